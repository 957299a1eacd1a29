//! A provider and hooks in memory, and the executors' order of effects over them.

use std::sync::Mutex;

use super::*;
use crate::contract::*;
use crate::text::Text;

/// Records every call, in order, and answers from its fields.
#[derive(Default)]
struct Double {
    calls: Mutex<Vec<String>>,
    info: Option<Info>,
    /// Chunks of each opening in turn; the last one stays.
    openings: Mutex<Vec<(bool, Vec<&'static str>)>>,
    refuse: Option<&'static str>,
}

impl Double {
    fn note(&self, call: &str) -> Outcome<()> {
        self.calls.lock().unwrap().push(call.to_owned());
        match self.refuse {
            Some(step) if call.starts_with(step) => {
                Err(FsError::new(Code::StaleVersion, format!("{step} refused")).into())
            }
            _ => Ok(()),
        }
    }

    fn calls(&self) -> String {
        self.calls.lock().unwrap().join(" ")
    }
}

struct Chunks {
    rest: std::vec::IntoIter<&'static str>,
    settled: bool,
}

impl TextSource for Chunks {
    async fn next(&mut self) -> Outcome<Option<&[u8]>> {
        Ok(self.rest.next().map(str::as_bytes))
    }

    async fn is_settled(&mut self) -> Outcome<bool> {
        Ok(self.settled)
    }
}

impl Provider for Double {
    type Source = Chunks;

    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Outcome<Target> {
        self.note(&format!("resolve({path},{})", cwd.unwrap_or("-")))?;
        Ok(Target {
            key: format!("key:{path}"),
            display: format!("/{path}"),
        })
    }

    async fn open(&self, _: &Target, min: u64) -> Outcome<Option<Opened<Chunks>>> {
        self.note(&format!("open({min})"))?;
        let mut openings = self.openings.lock().unwrap();
        let (settled, chunks) = if openings.len() > 1 {
            openings.remove(0)
        } else {
            openings[0].clone()
        };
        let info = self.info.clone();
        let text = Chunks {
            rest: chunks.into_iter(),
            settled,
        };
        Ok(info.map(|info| Opened { info, text }))
    }

    async fn write_text(
        &self,
        _: &Target,
        content: Text,
        intent: Option<WriteIntent>,
        _: Option<Confinement>,
    ) -> Outcome<WriteOutcome> {
        self.note(&format!("write({intent:?})"))?;
        Ok(WriteOutcome {
            operation: Operation::Update,
            version: "v2".into(),
            before: Some(text("a\nb\n")),
            after: content,
        })
    }

    async fn edit_text(
        &self,
        _: &Target,
        edit: EditRequest,
        expected: Option<String>,
        _: Option<Confinement>,
    ) -> Outcome<EditOutcome> {
        self.note(&format!("edit({expected:?},{})", edit.replace_all))?;
        Ok(EditOutcome {
            version: "v2".into(),
            before: text("a\n"),
            after: text("b\n"),
        })
    }
}

impl Hooks for Double {
    async fn authorize(&self) -> Outcome<Authorization> {
        self.note("authorize")?;
        Ok(Authorization::default())
    }

    async fn write_intent(&self, target: &Target) -> Outcome<Option<WriteIntent>> {
        self.note(&format!("intent({})", target.display))?;
        Ok(Some(WriteIntent::CreateIfAbsent))
    }

    async fn edit_intent(&self, target: &Target) -> Outcome<Option<String>> {
        self.note(&format!("intent({})", target.display))?;
        Ok(Some("v1".into()))
    }

    fn observed(&self, target: &Target, observation: Observation) {
        let _ = self.note(&format!("observed({},{observation:?})", target.display));
    }

    fn explain(&self, failure: Failure) -> Failure {
        Failure::Internal(format!("explained: {failure}"))
    }
}

fn text(content: &str) -> Text {
    Text::from_valid(content.as_bytes().to_vec())
}

fn file(size: u64) -> Option<Info> {
    Some(Info {
        version: "v1".into(),
        kind: FileType::File,
        size: Some(size),
    })
}

const LIMITS: ReadLimits = ReadLimits {
    lines: 4.0,
    line_units: 10,
    bytes: 100,
    stream_min_size: 50,
};

fn read_arguments(path: &str) -> ReadArguments {
    ReadArguments {
        path: path.into(),
        cwd: Some("/w".into()),
        offset: None,
        limit: None,
    }
}

#[tokio::test]
async fn read_resolves_opens_and_observes_the_version_of_the_text() {
    let double = Double {
        info: file(6),
        openings: Mutex::new(vec![(true, vec!["one\nt", "wo\n"])]),
        ..Default::default()
    };
    let shown = read(&double, &double, &read_arguments("f"), &LIMITS)
        .await
        .unwrap();
    assert_eq!(shown.window.text, b"one\ntwo");
    assert_eq!(shown.window.total_lines, 2);
    assert_eq!(
        double.calls(),
        "resolve(f,/w) open(50) observed(/f,Present(\"v1\"))"
    );
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_read_is_read_again() {
    let double = Double {
        info: file(6),
        openings: Mutex::new(vec![(false, vec!["torn"]), (true, vec!["whole"])]),
        ..Default::default()
    };
    let shown = read(&double, &double, &read_arguments("f"), &LIMITS)
        .await
        .unwrap();
    assert_eq!(shown.window.text, b"whole");
}

#[tokio::test]
async fn a_file_that_never_rests_is_shown_after_three_attempts() {
    let double = Double {
        info: file(6),
        openings: Mutex::new(vec![(false, vec!["torn"])]),
        ..Default::default()
    };
    let shown = read(&double, &double, &read_arguments("f"), &LIMITS)
        .await
        .unwrap();
    assert_eq!(shown.window.text, b"torn");
    assert_eq!(double.calls().matches("open").count(), 3);
}

#[tokio::test]
async fn an_absent_file_is_observed_and_refused() {
    let double = Double {
        openings: Mutex::new(vec![(true, vec![])]),
        ..Default::default()
    };
    let failure = read(&double, &double, &read_arguments("f"), &LIMITS)
        .await
        .unwrap_err();
    assert_eq!(failure.to_string(), "cannot read \"/f\": not found");
    assert!(double.calls().ends_with("observed(/f,Absent)"));
}

#[tokio::test]
async fn a_failed_read_observes_nothing() {
    let directory = Info {
        kind: FileType::Directory,
        ..file(1).unwrap()
    };
    let double = Double {
        info: Some(directory),
        openings: Mutex::new(vec![(true, vec![])]),
        ..Default::default()
    };
    let failure = read(&double, &double, &read_arguments("f"), &LIMITS)
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "cannot read \"/f\": not a regular file"
    );

    let double = Double {
        info: file(2),
        openings: Mutex::new(vec![(true, vec!["a\n"])]),
        ..Default::default()
    };
    let arguments = ReadArguments {
        offset: Some(2.0),
        ..read_arguments("f")
    };
    let failure = read(&double, &double, &arguments, &LIMITS)
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "offset 2 is out of range for \"/f\" (1 lines)"
    );
    assert!(!double.calls().contains("observed"));
}

#[tokio::test]
async fn read_checks_its_arguments_in_order_before_any_call() {
    let double = Double::default();
    let wrong = |offset, limit, path: &str| ReadArguments {
        path: path.into(),
        cwd: None,
        offset,
        limit,
    };
    for (arguments, message) in [
        (
            wrong(Some(0.0), Some(0.0), " "),
            "file_path must be a non-empty string",
        ),
        (
            wrong(Some(0.0), Some(9.0), "f"),
            "offset must be a positive integer",
        ),
        (
            wrong(Some(2.5), None, "f"),
            "offset must be a positive integer",
        ),
        (
            wrong(None, Some(-4.0), "f"),
            "limit must be a positive integer",
        ),
        (
            wrong(None, Some(5.0), "f"),
            "limit must be less than or equal to 4",
        ),
    ] {
        let failure = read(&double, &double, &arguments, &LIMITS)
            .await
            .unwrap_err();
        assert!(
            matches!(&failure, Failure::Argument(text) if text == message),
            "{failure}"
        );
    }
    assert_eq!(double.calls(), "");
}

fn write_arguments() -> WriteArguments {
    WriteArguments {
        path: "f".into(),
        cwd: None,
        content: text("a\nc\n"),
    }
}

#[tokio::test]
async fn write_takes_its_steps_in_order_and_diffs() {
    let double = Double::default();
    let written = write(&double, &double, write_arguments()).await.unwrap();
    assert_eq!(written.hunks.len(), 1);
    assert_eq!(
        double.calls(),
        "authorize resolve(f,-) intent(/f) write(Some(CreateIfAbsent)) observed(/f,Present(\"v2\"))"
    );
}

#[tokio::test]
async fn only_the_write_itself_is_explained() {
    for (step, explained) in [
        ("authorize", false),
        ("resolve", false),
        ("intent", false),
        ("write", true),
    ] {
        let double = Double {
            refuse: Some(step),
            ..Default::default()
        };
        let failure = write(&double, &double, write_arguments())
            .await
            .unwrap_err();
        assert_eq!(
            failure.to_string().starts_with("explained: "),
            explained,
            "{step}"
        );
        assert!(!double.calls().contains("observed"));
    }
}

fn edit_arguments(old: &str, new: &str) -> EditArguments {
    let edit = EditRequest {
        old: text(old),
        new: text(new),
        replace_all: false,
    };
    EditArguments {
        path: "f".into(),
        cwd: None,
        edit,
    }
}

#[tokio::test]
async fn edit_explains_its_guard_and_the_edit() {
    for (step, explained) in [
        ("authorize", false),
        ("resolve", false),
        ("intent", true),
        ("edit", true),
    ] {
        let double = Double {
            refuse: Some(step),
            ..Default::default()
        };
        let failure = edit(&double, &double, edit_arguments("a", "b"))
            .await
            .unwrap_err();
        assert_eq!(
            failure.to_string().starts_with("explained: "),
            explained,
            "{step}"
        );
    }
}

#[tokio::test]
async fn edit_takes_its_steps_in_order_and_diffs() {
    let double = Double::default();
    let edited = edit(&double, &double, edit_arguments("a", "b"))
        .await
        .unwrap();
    assert_eq!(edited.hunks.len(), 1);
    assert_eq!(
        double.calls(),
        "authorize resolve(f,-) intent(/f) edit(Some(\"v1\"),false) observed(/f,Present(\"v2\"))"
    );
}

#[tokio::test]
async fn edit_checks_its_arguments_in_order_before_any_call() {
    let double = Double::default();
    for (old, new, message) in [
        ("", "", "old_string must be a non-empty string"),
        ("k", "k", "old_string and new_string must differ"),
    ] {
        let failure = edit(&double, &double, edit_arguments(old, new))
            .await
            .unwrap_err();
        assert_eq!(failure.to_string(), message);
    }
    assert_eq!(double.calls(), "");
}
