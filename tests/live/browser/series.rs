//! The page of `timeline`.

use std::path::Path;

use testkit::chromium::Chromium;
use testkit::prelude::*;
use testkit::timeline::{capture, seconds};

use super::UNREADABLE;

#[test]
fn the_map_of_the_page_answers_to_pointer_wheel_and_keys_at_every_width_in_both_themes() {
    let scratch = Scratch::new();
    let mut seconds = seconds(11);
    for line in seconds.iter_mut().flatten() {
        *line = line.replace("{hot}", "{<img src=x onerror=alert(1)>}");
    }
    let file = capture(&scratch, "node.monitor", &seconds);
    let out = scratch.path("out");
    let args = [
        "timeline",
        &file,
        "--nodes",
        "3",
        "--out",
        out.to_str().unwrap(),
    ];
    assert_eq!(code(&slotscope(&args).output().unwrap()), 0);
    let pictures = Path::new(env!("CARGO_BIN_EXE_slotscope")).parent().unwrap();
    let pictures = pictures.join("browser");
    let mut tab = Chromium::start().tab(1440, "light");
    for (width, theme) in [
        (1440, "light"),
        (1440, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        tab.emulate(width, theme);
        tab.open(&out.join("timeline.html"));
        let place = format!("{width} px, {theme}");
        assert_eq!(tab.eval(UNREADABLE), json!([]), "{place}");
        tab.screenshot(&pictures.join(format!("timeline-{width}-{theme}.png")));

        // The page shows the largest burst first.
        let under = tab.text("#heat-under");
        let slot = usize::from(slotscope::slot(b"{<img src=x onerror=alert(1)>}"));
        let row = format!("Slots {} to {}", slot / 64 * 64, slot / 64 * 64 + 63);
        assert_contains(&under, &[&row, "2026-11-21 06:28:35 UTC: "]);
        under.says("Heaviest hash tags: {<img src=x onerror=alert(1)>} (");
        under.says("Burst: hash tag {<img src=x onerror=alert(1)>} (slot ");

        let range = "document.getElementById('heat-range').textContent";
        assert_eq!(tab.eval(range), "slots 0 to 16383", "{place}");
        tab.eval("document.getElementById('heat').focus()");
        tab.press("ArrowRight");
        assert!(tab.text("#heat-under").contains("06:28:36 UTC"), "{place}");
        tab.press("+");
        assert_ne!(tab.eval(range), "slots 0 to 16383", "{place}");
        assert!(
            tab.text("#heat-from").as_str() > "2026-11-21 06:26:35",
            "{place}"
        );
        tab.press("0");
        assert_eq!(tab.eval(range), "slots 0 to 16383", "{place}");
        tab.hover("#heat", (0.001, 0.001));
        assert!(
            tab.text("#heat-under")
                .starts_with("Slots 0 to 63, 2026-11-21 06:26:35 UTC: ")
        );
        let wheel = "document.getElementById('heat').dispatchEvent(new WheelEvent('wheel', {deltaY: -1, cancelable: true}))";
        assert_eq!(
            tab.eval(wheel),
            false,
            "the page does not scroll while the map zooms"
        );
        assert_ne!(tab.eval(range), "slots 0 to 16383", "{place}");
        tab.click("#heat-all");
        assert_eq!(tab.eval(range), "slots 0 to 16383", "{place}");
        assert_eq!(tab.faults(), Vec::<String>::new(), "{place}");
    }
}
