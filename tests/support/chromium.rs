//! A Chromium without a window and without a network, spoken to by the DevTools protocol over two pipes. It is ended
//! with the test, also where that panics.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything here takes on the slowest machine; then the test fails and says what it waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The browser.
pub struct Chromium {
    process: Child,
    to: File,
    from: Receiver<Value>,
    last: u64,
    _folder: TempDir,
}

/// A page that was opened.
pub struct Page<'a> {
    chromium: &'a mut Chromium,
    session: String,
    /// What the browser said meanwhile.
    events: Vec<Value>,
    url: String,
}

impl Chromium {
    /// Starts one; `None` where the test script could not install one and said so.
    pub fn start() -> Option<Self> {
        if std::env::var_os("SLOTSCOPE_WITHOUT_CHROMIUM").is_some() {
            return None;
        }
        let is_there = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
        let name = NAMES.into_iter().find(is_there).expect("no Chromium here; tests/run installs one");
        let folder = tempfile::tempdir().unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        let mut shell = Command::new("sh");
        // The browser reads commands from descriptor 3 and answers on 4.
        shell.args(["-c", r#"to=$1 from=$2; shift 2; exec "$@" 3<"$to" 4>"$from""#, "sh"]).args([&to, &from]).arg(name);
        shell.args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]);
        shell.args([
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
        ]);
        shell.arg(format!("--user-data-dir={}", folder.path().join("profile").display())).arg("about:blank");
        let process = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (sender, receiver) = mpsc::channel();
        let to = File::options().write(true).open(to).unwrap();
        std::thread::spawn(move || {
            let reader = BufReader::new(File::open(from).unwrap());
            for message in reader.split(0).map_while(Result::ok) {
                if sender.send(serde_json::from_slice(&message).unwrap_or_default()).is_err() {
                    break;
                }
            }
        });
        Some(Chromium { process, to, from: receiver, last: 0, _folder: folder })
    }

    /// Opens a file in a window so wide, with `light` or `dark` colours wanted, and waits until it is loaded.
    pub fn open(&mut self, path: &Path, width: u32, theme: &str) -> Page<'_> {
        let mut events = Vec::new();
        let target = self.call(None, "Target.createTarget", json!({"url": "about:blank"}), &mut events);
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.call(None, "Target.attachToTarget", attach, &mut events)["sessionId"].clone();
        let session = session.as_str().unwrap().to_string();
        let url = format!("file://{}", path.display());
        let mut page = Page { chromium: self, session, events, url };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let screen = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        page.call("Emulation.setDeviceMetricsOverride", screen);
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        page.call("Emulation.setEmulatedMedia", json!({"features": features}));
        let url = page.url.clone();
        page.call("Page.navigate", json!({"url": url}));
        page.wait_for("Page.loadEventFired");
        page
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value, events: &mut Vec<Value>) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.to.write_all(&[message.to_string().as_bytes(), b"\0"].concat()).unwrap();
        loop {
            let answer = self.next(method);
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            events.push(answer);
        }
    }

    fn next(&mut self, waiting_for: &str) -> Value {
        self.from.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("Chromium, {waiting_for}: {error}"))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It is this test's own process; it takes its helpers with it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Page<'_> {
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.chromium.call(Some(&self.session), method, params, &mut self.events)
    }

    fn wait_for(&mut self, event: &str) {
        while !self.events.iter().any(|seen| seen["method"] == event) {
            let seen = self.chromium.next(event);
            self.events.push(seen);
        }
    }

    /// What an expression is, promises awaited.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The same, where it is text.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_string()
    }

    /// Moves the mouse.
    pub fn move_to(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    /// Presses a key that has a name.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "code": key}));
        }
    }

    /// A PNG of the whole page, in base64.
    pub fn screenshot(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": true}));
        picture["data"].as_str().unwrap().to_string()
    }

    /// Nothing was asked for but the page, nothing went wrong, no dialog opened.
    pub fn assert_quiet(&mut self) {
        let bad =
            ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening"];
        for event in self.events.iter().filter(|event| event["sessionId"] == self.session) {
            let method = event["method"].as_str().unwrap_or_default();
            assert!(!bad.contains(&method), "{event}");
            if method == "Network.requestWillBeSent" {
                let url = event["params"]["request"]["url"].as_str().unwrap();
                assert!(url == self.url || url.starts_with("data:"), "a request to {url}");
            }
        }
    }

    /// For a test that made them on purpose.
    pub fn forget_errors(&mut self) {
        self.events.retain(|event| {
            !["Log.entryAdded", "Network.requestWillBeSent"].contains(&event["method"].as_str().unwrap_or_default())
        });
    }
}
