//! Draws the screen with ratatui: a title, the verdict, the shards, the slots or one slot's keys, and the key
//! bindings.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Paragraph, Row as Drawn, Table, Wrap};

use slotscope_base::name::{Name, truncated};
use slotscope_base::text::{counted, grouped};
use slotscope_collect::slot_keys::{SlotKeys, common_tag};
use slotscope_model::state::State;

use crate::top::columns::{Row, fitting};
use crate::top::rows::Cluster;
use crate::top::screen::{Cursor, Place, Screen};

/// Minimum terminal size.
const LEAST: (u16, u16) = (60, 16);
/// Lines besides tables: title, verdict, message, table heading, key bindings.
const LINES: u16 = 6;
/// Lines of the verdict: memory and load.
const VERDICT: u16 = 2;
const KEYS: &str = "Enter open  Esc back  Tab table  s sort  p pause  q quit";
/// Maximum length of a name in a heading.
const NAME: usize = 40;

/// Draws the screen, optionally in colour.
pub(crate) fn draw(frame: &mut Frame<'_>, screen: &Screen, is_coloured: bool) {
    let area = frame.area();
    let (width, height) = LEAST;
    if area.width < width || area.height < height {
        let text = format!(
            "top needs {width} columns and {height} lines; here are {} and {}",
            area.width, area.height
        );
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    }
    let none = Cluster::default();
    let cluster = screen.read.as_ref().map_or(&none, |read| &read.cluster);
    let shards = lines_of_shards(area.height, cluster.shards.len());
    let lines = [1, VERDICT, 1, shards, 1].map(Constraint::Length);
    let parts = [&lines[..], &[Constraint::Min(0), Constraint::Length(1)]].concat();
    let [title, verdict, message, shards, heading, table, keys] =
        Layout::vertical(parts).areas(area);
    let painter = Painter {
        screen,
        cluster,
        is_coloured,
    };
    frame.render_widget(painter.title(), title);
    frame.render_widget(painter.verdict(verdict.width.into()), verdict);
    frame.render_widget(painter.message(), message);
    painter.table(
        frame,
        shards,
        &screen.listed_shards(),
        &screen.shards,
        Place::Shards,
    );
    frame.render_widget(painter.heading(), heading);
    match &screen.opened {
        None => painter.table(
            frame,
            table,
            &screen.listed_slots(),
            &screen.slots,
            Place::Slots,
        ),
        Some(_) => painter.table(
            frame,
            table,
            &screen.listed_keys(),
            &screen.keys,
            Place::Keys,
        ),
    }
    frame.render_widget(Line::styled(KEYS, painter.dim()), keys);
}

fn lines_of_shards(height: u16, shards: usize) -> u16 {
    let shards = u16::try_from(shards + 1).unwrap_or(u16::MAX);
    shards.min(((height - LINES) / 3).max(4)).max(2)
}

struct Painter<'s> {
    screen: &'s Screen,
    cluster: &'s Cluster,
    is_coloured: bool,
}

impl Painter<'_> {
    fn title(&self) -> Line<'static> {
        let screen = self.screen;
        let read = screen.read.as_ref();
        let at = read.map(|read| slotscope_base::calendar::utc(read.at_ms));
        let clock = at.and_then(|at| at.get(11..19).map(|time| format!("{time} UTC")));
        let shards = counted(self.cluster.shards.len() as u64, "shard");
        let parts = [
            screen.cluster_name.clone(),
            shards,
            clock.unwrap_or_else(|| "reading".to_owned()),
        ];
        let mut line = Line::from(Span::styled("slotscope top  ", self.bold()));
        line.push_span(parts.join("  "));
        if screen.is_paused {
            line.push_span(Span::styled(
                "  PAUSED: p continues",
                self.style(Color::Yellow).add_modifier(Modifier::BOLD),
            ));
        }
        line
    }

    /// The verdict of `analyze` on the last seconds, the most urgent first.
    fn verdict(&self, width: usize) -> Text<'static> {
        let read = self.screen.read.as_ref();
        let Some(verdict) = read.and_then(|read| read.verdict.as_ref()) else {
            return Text::styled("The verdict needs two readings.", self.dim());
        };
        let lines = verdict.iter();
        Text::from_iter(
            lines.map(|(state, word, sentence)| self.finding(*state, word, sentence, width)),
        )
    }

    fn finding(&self, state: State, word: &str, sentence: &str, width: usize) -> Line<'static> {
        let style = self.style(colour(state)).add_modifier(Modifier::BOLD);
        let word = Span::styled(word.to_owned(), style);
        let left = width.saturating_sub(word.content.chars().count() + 2);
        Line::from(vec![
            word,
            Span::raw(format!("  {}", truncated(sentence, left))),
        ])
    }

    /// An error, or why there is no CPU time by slot.
    fn message(&self) -> Line<'static> {
        let screen = self.screen;
        let failures = &self.cluster.failures;
        match (&screen.message, failures.first(), &self.cluster.without_cpu) {
            (Some(message), ..) => Line::styled(message.clone(), self.alarm()),
            (None, Some(first), _) => {
                let others = match failures.len() - 1 {
                    0 => String::new(),
                    count => format!("{} more, and ", grouped(count as u64)),
                };
                Line::styled(format!("{others}{first}"), self.alarm())
            }
            (None, None, Some(why)) => Line::styled(why.clone(), self.dim()),
            (None, None, None) => Line::default(),
        }
    }

    /// The heading of the lower table.
    fn heading(&self) -> Line<'static> {
        let screen = self.screen;
        let name = |name: &str| Name::from(name).short(NAME);
        let text = match (&screen.opened, &screen.only) {
            (Some(opened), _) => {
                let mut slots = self.cluster.slots.iter();
                let slot = slots.find(|slot| slot.slot == opened.slot);
                let owner =
                    slot.map_or_else(String::new, |slot| format!(" of {}", name(&slot.shard)));
                let keys = keys(opened.keys.as_ref());
                format!("Slot {}{owner}: {keys}", opened.slot)
            }
            (None, Some(only)) => format!(
                "Slots of {}: {}",
                name(only),
                grouped(screen.listed_slots().len() as u64)
            ),
            (None, None) => format!("Slots: {}", grouped(screen.listed_slots().len() as u64)),
        };
        Line::styled(text, self.bold())
    }

    /// A table, scrolled to the cursor.
    fn table<T: Row>(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        rows: &[&T],
        cursor: &Cursor,
        place: Place,
    ) {
        let is_current = self.screen.place == place;
        let columns = fitting::<T>(area.width.into());
        let at = cursor.place(rows);
        let height = usize::from(area.height.saturating_sub(1));
        let first = (at + 1).saturating_sub(height.max(1));
        let heads = columns.iter().map(|(column, _)| {
            let mark = if column.heading == cursor.sorted_by(rows) {
                "▾"
            } else {
                ""
            };
            aligned(format!("{}{mark}", column.heading), column.is_number())
        });
        let header = Drawn::new(heads.collect::<Vec<_>>()).style(if is_current {
            self.bold()
        } else {
            self.dim()
        });
        let line = |(place, row): (usize, &&T)| {
            let cells = columns
                .iter()
                .map(|(column, width)| aligned(column.cell(row, *width), column.is_number()));
            let style = row.state().map(|state| self.style(colour(state)));
            let marked = if is_current && place == at {
                Modifier::REVERSED
            } else {
                Modifier::empty()
            };
            Drawn::new(cells.collect::<Vec<_>>())
                .style(style.unwrap_or_default().add_modifier(marked))
        };
        let drawn = rows.iter().enumerate().skip(first).take(height).map(line);
        let widths = columns
            .iter()
            .map(|(_, width)| Constraint::Length(*width as u16));
        frame.render_widget(
            Table::new(drawn, widths).header(header).column_spacing(1),
            area,
        );
    }

    fn style(&self, colour: Color) -> Style {
        if self.is_coloured {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    fn bold(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn dim(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn alarm(&self) -> Style {
        self.style(Color::Red)
    }
}

/// The colour of a state, in the verdict and in rows.
fn colour(state: State) -> Color {
    match state {
        State::Empty | State::Unjudged | State::Watch => Color::Yellow,
        State::Suspicious => Color::Magenta,
        State::Balanced => Color::Green,
        State::Skewed | State::Limit | State::Down => Color::Red,
    }
}

fn aligned(text: String, is_number: bool) -> Cell<'static> {
    let text = Text::from(text);
    Cell::from(if is_number {
        text.right_aligned()
    } else {
        text
    })
}

/// The number of listed keys of a slot, and their most common hash tag.
fn keys(keys: Option<&Result<SlotKeys, String>>) -> String {
    let keys = match keys {
        None => return "reading its keys".to_owned(),
        Some(Err(why)) => return why.clone(),
        Some(Ok(keys)) => keys,
    };
    let listed = keys.keys.len() as u64;
    let mut text = if listed < keys.count {
        format!("{} of {}", grouped(listed), counted(keys.count, "key"))
    } else {
        counted(keys.count, "key")
    };
    if let Some((tag, count)) = common_tag(keys.keys.iter().map(|key| &key.name)) {
        text += &format!(
            ", {} of the tag {{{}}}",
            grouped(count as u64),
            tag.short(NAME)
        );
    }
    if let Some(why) = keys.without_memory {
        text += &format!("; {why}");
    }
    text
}
