//! Seasons: steps between regular reports that repeat by the week or the year, and the steps without them.

/// The months between two points, and the difference of their levels.
pub(super) type Step = (f64, f64);

/// A day in months.
pub(super) const DAY: f64 = 12.0 / 365.25;
/// A week and a year in months.
const PERIODS: [f64; 2] = [7.0 * DAY, 12.0];
/// Gaps between reports that follow a period differ by at most this part.
const REGULAR: f64 = 0.2;
/// A season is one if it leaves at most this part of the variance of steps.
const SEASONAL: f64 = 0.5;

/// Steps without what repeats every period.
pub(super) struct Season {
    pub steps: Vec<Step>,
    /// How far the last point is from the level because of the season, and how far any point may be.
    pub now: f64,
    pub swing: f64,
    /// How many numbers were estimated.
    pub parameters: usize,
}

/// The steps of a week or a year, if the points are regular and cover two of them.
pub(super) fn period(points: &[(f64, f64)]) -> Option<usize> {
    let steps = points.len() - 1;
    let gap = (points[steps].0 - points[0].0) / steps as f64;
    let is_regular = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0 - gap).abs() <= REGULAR * gap;
    let periods = PERIODS.map(|period| (period / gap).round() as usize);
    let fits = |period: &usize| *period >= 3 && steps >= 2 * period;
    let found = periods.into_iter().find(fits);
    found.filter(|_| points.windows(2).all(is_regular))
}

impl Season {
    /// All steps as they are.
    pub(super) fn none(steps: &[Step]) -> Season {
        Season {
            steps: steps.to_vec(),
            now: 0.0,
            swing: 0.0,
            parameters: 0,
        }
    }

    /// The mean step of each phase of a period apart; `None` if it explains little.
    pub(super) fn of(steps: &[Step], period: usize) -> Option<Season> {
        let mean = |changes: &[f64]| changes.iter().sum::<f64>() / changes.len().max(1) as f64;
        let phases: Vec<f64> = (0..period)
            .map(|phase| {
                let of_phase = steps.iter().skip(phase).step_by(period);
                mean(&of_phase.map(|step| step.1).collect::<Vec<_>>())
            })
            .collect();
        let drift = mean(&phases);
        let repeats = |at: usize| phases[at % period] - drift;
        let rest: Vec<Step> = (0..)
            .zip(steps)
            .map(|(at, (months, change))| (*months, change - repeats(at)))
            .collect();
        let squares =
            |steps: &[Step]| -> f64 { steps.iter().map(|step| (step.1 - drift).powi(2)).sum() };
        let parameters = period - 1;
        let freedom = (steps.len() - 1) as f64;
        let left = squares(&rest) / (freedom - parameters as f64);
        if left > SEASONAL * squares(steps) / freedom {
            return None;
        }
        // Where each phase is from the level, the mean of all phases.
        let mut offsets = vec![0.0; period];
        for phase in 1..period {
            offsets[phase] = offsets[phase - 1] + repeats(phase - 1);
        }
        let level = mean(&offsets);
        let offset = |phase: usize| offsets[phase % period] - level;
        Some(Season {
            now: offset(steps.len()),
            swing: (0..period)
                .map(|phase| offset(phase).abs())
                .fold(0.0, f64::max),
            steps: rest,
            parameters,
        })
    }
}
