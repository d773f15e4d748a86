//! A real headless Chromium, driven through its debugging pipe: JSON messages, each terminated by a NUL byte. Every
//! wait ends, with the reply or with a panic that names the missing event. Dropping it leaves no process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::json::Json;
use crate::run::words;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for a reply; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(300);

/// Events that a correct page does not cause.
const FAULTS: &[&str] = &[
    "Runtime.exceptionThrown",
    "Log.entryAdded",
    "Page.javascriptDialogOpening",
];

/// The browser.
pub struct Chromium {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    asked: u64,
    profile: TempDir,
}

/// A page of the browser.
pub struct Tab {
    browser: Chromium,
    session: String,
    events: Vec<Value>,
}

impl Chromium {
    /// Starts it with a new profile and without network.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads messages from descriptor 3 and writes to 4; the shell redirects them to our pipes.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            r#"exec 2>"$PROFILE/stderr"
            for browser in chromium chromium-browser google-chrome; do
                command -v "$browser" >/dev/null && exec "$browser" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null
            done
            echo "no chromium, chromium-browser or google-chrome on the PATH" >&2"#,
            "sh",
        ]);
        command.args(words(
            "--headless --remote-debugging-pipe --no-sandbox --disable-gpu --hide-scrollbars \
             --no-first-run --disable-extensions --disable-background-networking --disable-sync \
             --disable-component-update --disable-dev-shm-usage",
        ));
        command.arg("--host-resolver-rules=MAP * ~NOTFOUND");
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command
            .env("PROFILE", profile.path())
            .env("HOME", profile.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let (send, from) = channel();
        // Ends when the browser closes its end.
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while matches!(lines.read_until(0, &mut message), Ok(1..)) {
                message.pop();
                let value = serde_json::from_slice(&message).ok();
                if value.is_none_or(|value| send.send(value).is_err()) {
                    break;
                }
                message.clear();
            }
        });
        Chromium {
            to: child.stdin.take(),
            child,
            from,
            asked: 0,
            profile,
        }
    }

    /// An empty tab that is `width` wide, with `theme` `light` or `dark`.
    pub fn tab(self, width: u32, theme: &str) -> Tab {
        let mut tab = Tab {
            browser: self,
            session: String::new(),
            events: Vec::new(),
        };
        let target = tab.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = tab.call("Target.attachToTarget", attach);
        tab.session = attached["sessionId"].text().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        // Tab on the last control hands the focus to the browser's window, which returns it later: a page that does
        // not have it shows no outline.
        let focus = "Emulation.setFocusEmulationEnabled";
        tab.call(focus, json!({"enabled": true}));
        tab.emulate(width, theme);
        tab
    }

    fn failed(&self, what: &str) -> ! {
        let said = std::fs::read_to_string(self.profile.path().join("stderr")).unwrap_or_default();
        let said: Vec<_> = said.lines().rev().take(5).collect();
        panic!("{what}; Chromium said last: {said:?}; is it installed? tests/run installs it");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Without the pipe it exits with its child processes; if it does not, it is killed by its id.
        self.to = None;
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut ended = None;
        while Instant::now() < deadline && ended != Some(RecvTimeoutError::Disconnected) {
            ended = self.from.recv_timeout(Duration::from_millis(50)).err();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab {
    /// The result of a protocol method, called on the page if there is one.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.browser.asked += 1;
        let id = self.browser.asked;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        if let Err(error) = self.browser.to.as_mut().unwrap().write_all(&bytes) {
            let what = format!("{method} cannot be sent: {error}");
            self.browser.failed(&what);
        }
        let answer = self.wait(method, |message| message["id"] == id);
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].clone()
    }

    /// The next matching message; events before it are kept.
    fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(message) = self.browser.from.recv_timeout(left) else {
                self.browser.failed(&format!("no answer to {what}"));
            };
            if message.get("method").is_some() {
                self.events.push(message.clone());
            }
            if fits(&message) {
                return message;
            }
        }
    }

    /// Sets its width and theme.
    pub fn emulate(&mut self, width: u32, theme: &str) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        let url = format!("file://{}", file.canonicalize().unwrap().display());
        self.events.clear();
        let answer = self.call("Page.navigate", json!({"url": url}));
        assert!(answer.get("errorText").is_none(), "{answer}");
        let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        if !self.events.iter().any(is_loaded) {
            self.wait("Page.navigate", is_loaded);
        }
    }

    /// The value of an expression in the page; a promise is awaited.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub fn until(&mut self, expression: &str) {
        self.eval(&format!(
            "new Promise((done) => {{ const look = () => ({expression} ? done() : setTimeout(look, 10)); look(); }})"
        ));
    }

    /// A list of texts that an expression has.
    pub fn strings(&mut self, expression: &str) -> Vec<String> {
        serde_json::from_value(self.eval(expression)).unwrap()
    }

    /// The number of elements that match a selector.
    pub fn count(&mut self, selector: &str) -> usize {
        let count = self.eval(&format!("document.querySelectorAll({selector:?}).length"));
        count.whole() as usize
    }

    /// The text of the first element that matches a selector.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({selector:?}).textContent"));
        text.text().to_owned()
    }

    /// The texts of all elements that match a selector.
    pub fn texts(&mut self, selector: &str) -> Vec<String> {
        self.strings(&format!(
            "[...document.querySelectorAll({selector:?})].map((e) => e.textContent)"
        ))
    }

    /// A point in an element: x and y from 0 to 1, from its top left corner.
    fn place(&mut self, selector: &str, (x, y): (f64, f64)) -> Value {
        let found = format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const b = e.getBoundingClientRect(); return {{x: b.left + {x} * b.width, y: b.top + {y} * b.height}}; }})()"
        );
        self.eval(&found)
    }

    fn mouse(&mut self, kind: &str, place: &Value, clicks: u32) {
        let button = if clicks > 0 { "left" } else { "none" };
        let event = json!({"type": kind, "x": place["x"], "y": place["y"], "button": button, "clickCount": clicks});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Moves the pointer over an element.
    pub fn hover(&mut self, selector: &str, at: (f64, f64)) {
        let place = self.place(selector, at);
        self.mouse("mouseMoved", &place, 0);
    }

    /// Clicks the middle of an element.
    pub fn click(&mut self, selector: &str) {
        let place = self.place(selector, (0.5, 0.5));
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, &place, u32::from(kind != "mouseMoved"));
        }
    }

    /// Presses a key by name, such as `ArrowLeft`.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, None),
            "Enter" => (13, Some("\r")),
            _ => (0, None),
        };
        let mut event =
            json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if let Some(text) = text {
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", event);
        let event = json!({"type": "keyUp", "key": key, "code": key});
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Types text at the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// A screenshot of the whole page.
    pub fn screenshot(&mut self, file: &Path) {
        let whole = json!({"format": "png", "captureBeyondViewport": true});
        let shot = self.call("Page.captureScreenshot", whole);
        let bytes = STANDARD.decode(shot["data"].text()).unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// Asserts that there are none.
    #[track_caller]
    pub fn has_no_fault(&mut self) {
        assert_eq!(self.faults(), [""; 0]);
    }

    /// The faults since the page was opened: errors, dialogs, and requests for anything but the page.
    pub fn faults(&mut self) -> Vec<String> {
        // Events arrive before the reply to a later call.
        let page = self.eval("location.href.split('#')[0]"); // the fragment is not part of the request
        let is_fault = |event: &&Value| {
            let method = event["method"].as_str().unwrap_or_default();
            let kind = event["params"]["type"].as_str();
            let complaint = matches!(kind, Some("error" | "warning" | "assert"));
            let elsewhere = event["params"]["request"]["url"] != page;
            FAULTS.contains(&method)
                || method == "Runtime.consoleAPICalled" && complaint
                || method == "Network.requestWillBeSent" && elsewhere
        };
        let short = |event: &Value| event.to_string().chars().take(400).collect();
        self.events.iter().filter(is_fault).map(short).collect()
    }
}
