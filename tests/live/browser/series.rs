//! The page of `timeline`.

use std::path::Path;

use testkit::chromium::{Chromium, Tab};
use testkit::prelude::*;
use testkit::timeline::{capture, seconds};

use super::UNREADABLE;

/// Checks a page at two widths in both themes.
fn everywhere(page: &Path, name: &str, check: impl Fn(&mut Tab, &str)) {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser");
    let mut tab = Chromium::start().tab(1440, "light");
    for width in [1440, 390] {
        for theme in ["light", "dark"] {
            println!("{width} px, {theme}");
            tab.emulate(width, theme);
            tab.open(page);
            assert_eq!(tab.eval(UNREADABLE), json!([]));
            tab.screenshot(&pictures.join(format!("{name}-{width}-{theme}.png")));
            check(&mut tab, theme);
            tab.has_no_fault();
        }
    }
}
#[test]
fn the_map_of_the_page_answers_to_pointer_wheel_and_keys_at_every_width_in_both_themes() {
    let scratch = Scratch::new();
    let mut seconds = seconds(11);
    for line in seconds.iter_mut().flatten() {
        *line = line.replace("{hot}", "{<img src=x onerror=alert(1)>}");
    }
    capture(&scratch, "node.monitor", &seconds);
    scratch.text("timeline node.monitor --nodes 3 --out out");
    everywhere(&scratch.path("out/timeline.html"), "timeline", |tab, _| {
        // The page shows the largest burst first.
        let under = tab.text("#heat-under");
        let slot = usize::from(slotscope::slot(b"{<img src=x onerror=alert(1)>}"));
        let row = format!("Slots {} to {}", slot / 64 * 64, slot / 64 * 64 + 63);
        under.says(&row).says("2026-11-21 06:28:35 UTC: ");
        under.says("Heaviest hash tags: {<img src=x onerror=alert(1)>} (");
        under.says("Burst: hash tag {<img src=x onerror=alert(1)>} (slot ");

        let is_whole = |tab: &mut Tab| tab.text("#heat-range") == "slots 0 to 16383";
        assert!(is_whole(tab));
        tab.eval("document.getElementById('heat').focus()");
        tab.press("ArrowRight");
        tab.text("#heat-under").says("06:28:36 UTC");
        tab.press("+");
        assert!(!is_whole(tab));
        assert!(tab.text("#heat-from").as_str() > "2026-11-21 06:26:35");
        tab.press("0");
        assert!(is_whole(tab));
        tab.hover("#heat", (0.001, 0.001));
        let under = tab.text("#heat-under");
        under.begins("Slots 0 to 63, 2026-11-21 06:26:35 UTC: ");
        // The page does not scroll while the map zooms.
        let wheel = "document.getElementById('heat').dispatchEvent(new WheelEvent('wheel', {deltaY: -1, cancelable: true}))";
        assert_eq!(tab.eval(wheel), false);
        assert!(!is_whole(tab));
        tab.click("#heat-all");
        assert!(is_whole(tab));
    });
}
