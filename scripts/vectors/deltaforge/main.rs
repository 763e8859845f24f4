//! Prints vectors whose messages were written by DeltaForge's own envelopes and encoders: see README.md in the folder above.
//!
//! Its crate is not published. With its repository (github.com/vnvo/deltaforge, commit 95b4d93) checked out beside a new Cargo project
//! whose `src/main.rs` is this file, and its Cargo.lock copied there:
//!
//! ```toml
//! [dependencies]
//! deltaforge-core = { path = "../deltaforge/crates/deltaforge-core" }
//! apache-avro = "0.17"
//! serde_json = "1"
//! base64 = "0.22"
//! tokio = { version = "1", features = ["full"] }
//! uuid = "1"
//! ```
//!
//! `cargo run > deltaforge.ndjson`. The events are made as its sources make them (crates/sources: mysql_event.rs, mysql_object.rs,
//! postgres_event.rs, postgres_object.rs, postgres_logical_message.rs), and keyed as its Kafka sink keys them (crates/sinks: kafka.rs).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use apache_avro::Schema;
use base64::Engine;
use deltaforge_core::encoding::EncodingType;
use deltaforge_core::encoding::avro::{AvroEncoder, SourceSchemaProvider, SubjectStrategy};
use deltaforge_core::encoding::avro_schema::{build_envelope_schema, build_value_schema};
use deltaforge_core::encoding::avro_types::{ColumnDesc, TypeConversionOpts, mysql_column_to_avro, postgres_column_to_avro};
use deltaforge_core::envelope::EnvelopeType;
use deltaforge_core::{Event, Op, SourceInfo, SourcePosition, Transaction};
use serde_json::{Value, json};

const FROM: &str = "github.com/vnvo/deltaforge: crates/deltaforge-core, commit 95b4d93";
const WRITTEN_BY: &str = "DeltaForge 0.1.0 (95b4d93)";
const AT_MS: i64 = 1_723_115_239_782;
const GTID: &str = "3E11FA47-71CA-11E1-9E33-C80AA9429562:23";
const TYPE_PREFIX: &str = "com.example.cdc";

/// One event, and what it says: fields of the decoded event, beside those that all have.
struct Case {
    title: &'static str,
    event: Event,
    means: Value,
    /// What is left of it in a CloudEvent; null where that is what the other envelopes say.
    in_cloud_event: Value,
    /// Those in which it has something to show.
    envelopes: &'static [&'static str],
}

const ALL: &[&str] = &["native", "debezium", "cloudevents"];
const NO_WRAPPER: &[&str] = &["native", "cloudevents"];
const NO_CLOUD_EVENT: &[&str] = &["native", "debezium"];
const NATIVE: &[&str] = &["native"];

impl Case {
    fn only(mut self, envelopes: &'static [&'static str]) -> Self {
        self.envelopes = envelopes;
        self
    }

    fn as_cloud_event(mut self, means: Value) -> Self {
        self.in_cloud_event = means;
        self
    }
}

fn main() {
    for case in mysql_cases().into_iter().chain(postgres_cases()) {
        print_json(&case, EnvelopeType::Native, "none+json+deltaforge");
        print_json(&case, EnvelopeType::Debezium, "none+connect-json+deltaforge");
        print_json(&case, EnvelopeType::CloudEvents { type_prefix: TYPE_PREFIX.into() }, "none+json+cloudevents");
    }
    print_outbox();
    print_avro();
}

fn source(connector: &str, db: &str, schema: Option<&str>, table: &str, position: SourcePosition) -> SourceInfo {
    SourceInfo {
        version: "deltaforge-0.1.0".into(),
        connector: connector.into(),
        name: "orders-pipeline".into(),
        ts_ms: AT_MS,
        db: db.into(),
        schema: schema.map(Into::into),
        table: table.into(),
        snapshot: None,
        position,
    }
}

fn mysql(table: &str) -> SourceInfo {
    let position = SourcePosition::mysql(7, Some(GTID.into()), Some("mysql-bin.000003".into()), Some(12345), None);
    source("mysql", "shop", None, table, position)
}

fn postgres(table: &str) -> SourceInfo {
    source("postgresql", "inv", Some("sales"), table, SourcePosition::postgres("0/16B3748".into(), Some(781), None))
}

/// As the sources finish an event: its tenant, its transaction, the schema that they knew.
fn finished(event: Event, transaction: Option<&str>) -> Event {
    let mut event = event.with_tenant("acme");
    event.event_id = Some(uuid::Uuid::parse_str("0198e4a4-6f3c-7b6e-9f0a-1d2c3b4a5f60").unwrap());
    event.transaction = transaction.map(|id| Transaction { id: id.into(), total_order: None, data_collection_order: None });
    event.schema_version = Some("9f86d081884c7d65".into());
    event.schema_sequence = Some(4);
    event
}

fn row(source: SourceInfo, op: Op, before: Option<Value>, after: Option<Value>, transaction: Option<&str>) -> Event {
    finished(Event::new_row(source, op, before, after, AT_MS + 1, 64), transaction)
}

/// A row as mysql_object.rs builds it: decimals and times are text, sets are bits, blobs are wrapped.
fn mysql_row(name: &str) -> Value {
    json!({"id": 9007199254740993i64, "name": name, "price": "12.30", "ratio": 0.5, "flag": 1, "day": "2024-02-29",
        "at": "2024-02-29 12:00:00.500000", "seen": 1709208000500000i64, "blob": {"_base64": "AQID"}, "doc": {"a": [1, {"b": null}]},
        "odd_doc": {"_base64_json": "AAE="}, "options": 3, "none": null})
}

fn mysql_means(name: &str) -> Value {
    let mut row = mysql_row(name);
    row["id"] = json!({"$bigint": "9007199254740993"});
    row["blob"] = json!({"$bytes": "010203"});
    row["odd_doc"] = json!({"$bytes": "0001"});
    row
}

/// A row as postgres_object.rs builds it: what was not sent is marked.
fn postgres_row(name: &str, note: Value) -> Value {
    json!({"id": 1, "name": name, "amount": "12.30", "flag": true, "list": [1, null, 3], "doc": {"a": {"_unchanged": true, "b": 1}},
        "bin": {"_base64": "/xA="}, "at": "2024-02-29 12:00:00.5+00", "note": note, "picture": {"_base64": ""}})
}

fn postgres_means(name: &str, note: Value) -> Value {
    let mut row = postgres_row(name, note);
    row["bin"] = json!({"$bytes": "ff10"});
    row["picture"] = json!({"$bytes": ""});
    row
}

fn change(op: &str, before: Value, after: Value) -> Value {
    json!({"kind": "change", "op": op, "before": before, "after": after})
}

fn case(title: &'static str, event: Event, means: Value) -> Case {
    Case { title, event, means, in_cloud_event: Value::Null, envelopes: ALL }
}

fn mysql_cases() -> Vec<Case> {
    let new = || Some(mysql_row("new"));
    let old = || Some(mysql_row("old"));
    let mut snapshot = mysql("customers");
    snapshot.snapshot = Some("true".into());
    snapshot.position = SourcePosition::default();
    let mut ordered = row(mysql("customers"), Op::Create, None, new(), None);
    ordered.transaction = Some(Transaction { id: GTID.into(), total_order: Some(2), data_collection_order: Some(1) });
    ordered.tx_end = false;
    let mut processed = row(mysql("customers"), Op::Create, None, new(), None).mark_synthetic("js-fan-out");
    processed.tags = Some(vec!["pii:redacted".into()]);
    processed.trace_id = Some("4bf92f3577b34da6".into());
    let statement = json!({"sql": "ALTER TABLE customers ADD c INT", "database": "shop"});
    let ddl = finished(Event::new_ddl(mysql("_ddl"), statement, AT_MS + 1, 64), None);
    vec![
        case("MySQL: an insert", row(mysql("customers"), Op::Create, None, new(), Some(GTID)), change("create", Value::Null, mysql_means("new"))).only(NO_WRAPPER),
        case("MySQL: an update", row(mysql("customers"), Op::Update, old(), new(), Some(GTID)), change("update", mysql_means("old"), mysql_means("new"))).only(NO_CLOUD_EVENT),
        case("MySQL: a delete", row(mysql("customers"), Op::Delete, old(), None, None), change("delete", mysql_means("old"), Value::Null)).only(NATIVE),
        case("MySQL: a row of a snapshot", row(snapshot, Op::Read, None, new(), None), change("read", Value::Null, mysql_means("new"))).only(NO_WRAPPER),
        case("MySQL: its place in a transaction", ordered, change("create", Value::Null, mysql_means("new"))).only(NATIVE),
        case("MySQL: a row that a processor made", processed, change("create", Value::Null, mysql_means("new"))).only(NATIVE),
        case("MySQL: the operation truncate", row(mysql("customers"), Op::Truncate, None, None, None), json!({"kind": "truncate"})).only(NO_WRAPPER),
        case("MySQL: a statement", ddl, json!({"kind": "schema-change", "ddl": "ALTER TABLE customers ADD c INT", "database": "shop", "schema": null, "tables": []}))
            .as_cloud_event(json!({"kind": "unknown"})),
    ]
}

fn postgres_cases() -> Vec<Case> {
    let unchanged = || json!({"_unchanged": true});
    let old = postgres_row("old", json!("long"));
    let key = json!({"id": 1, "name": null});
    let mut snapshot = postgres("orders");
    snapshot.snapshot = Some("true".into());
    snapshot.position = SourcePosition::default();
    let emptied = json!({"sql": "TRUNCATE", "cascade": false, "restart_identity": true});
    let truncate = finished(Event::new_ddl(postgres("orders"), emptied, AT_MS + 1, 0), Some("781"));
    let message = |content: Value| {
        let mut source = source("postgresql", "inv", Some("__wal_message"), "audit", SourcePosition::default());
        source.version = "0.1.0".into();
        let mut event = Event::new_row(source, Op::Create, None, Some(content), AT_MS + 1, 64);
        event.event_id = None;
        event
    };
    vec![
        case("PostgreSQL: an insert", row(postgres("orders"), Op::Create, None, Some(postgres_row("new", json!("long"))), Some("781")),
            change("create", Value::Null, postgres_means("new", json!("long")))).only(NATIVE),
        case("PostgreSQL: an update with its row before", row(postgres("orders"), Op::Update, Some(old), Some(postgres_row("new", json!("long"))), Some("781")),
            change("update", postgres_means("old", json!("long")), postgres_means("new", json!("long")))).only(NATIVE),
        case("PostgreSQL: an update that leaves a TOAST column as it was",
            row(postgres("orders"), Op::Update, None, Some(postgres_row("new", unchanged())), Some("781")),
            change("update", Value::Null, postgres_means("new", json!({"$unavailable": "note"})))),
        case("PostgreSQL: a delete, whose columns beside the key are null", row(postgres("orders"), Op::Delete, Some(key.clone()), None, Some("781")),
            change("delete", key, Value::Null)).only(NO_WRAPPER),
        case("PostgreSQL: a row of a snapshot", row(snapshot, Op::Read, None, Some(postgres_row("new", json!("long"))), None),
            change("read", Value::Null, postgres_means("new", json!("long")))).only(NATIVE),
        case("PostgreSQL: TRUNCATE", truncate, json!({"kind": "truncate"})).as_cloud_event(json!({"kind": "unknown"})),
        case("PostgreSQL: a message of the log that is an object", message(json!({"user": 7})), message_means(r#"{"user":7}"#)).only(NATIVE),
        case("PostgreSQL: a message of the log that is text", message(json!("seen")), message_means(r#""seen""#)).only(NO_WRAPPER),
    ]
}

/// The message's JSON, written again without spaces.
fn message_means(text: &str) -> Value {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    json!({"kind": "message", "prefix": "audit", "content": {"$bytes": hex}})
}

/// What an event says of itself, whatever it is about.
fn meaning(case: &Case) -> Value {
    let mut event = case.means.clone();
    let source = &case.event.source;
    let kind = event["kind"].as_str().unwrap().to_string();
    if kind == "change" || kind == "truncate" {
        event["table"] = json!({"database": source.db, "name": source.table});
        if let Some(schema) = &source.schema {
            event["table"]["schema"] = json!(schema);
        }
    }
    if kind == "change" || kind == "truncate" || kind == "message" {
        match &case.event.transaction {
            Some(transaction) if transaction.total_order.is_some() => {
                event["transaction"] = json!({"id": transaction.id, "totalOrder": {"$bigint": "2"}, "dataCollectionOrder": {"$bigint": "1"}});
            }
            Some(_) => {} // without its orders, which the API always states
            None => event["transaction"] = Value::Null,
        }
    }
    event["key"] = json!(case.event.idempotency_key());
    if kind == "unknown" {
        return event;
    }
    event["tsMs"] = json!(case.event.ts_ms);
    event["source"] = json!({"connector": source.connector, "name": source.name, "version": source.version, "tsMs": source.ts_ms,
        "snapshot": source.snapshot.as_ref().map_or(json!(false), |word| json!(word)), "position": source.position});
    event
}

/// A CloudEvent has the row and a name of its table: which source it was, the transaction and the position are not in it.
fn cloud_meaning(case: &Case) -> Value {
    let source = &case.event.source;
    let mut event = if case.in_cloud_event.is_null() { case.means.clone() } else { case.in_cloud_event.clone() };
    event["key"] = json!(case.event.idempotency_key());
    if event["kind"] == "change" || event["kind"] == "truncate" {
        event["table"] = json!({"database": source.schema.as_ref().unwrap_or(&source.db), "name": source.table});
        event["transaction"] = Value::Null;
        event["source"] = json!({"name": source.name, "tsMs": case.event.ts_ms,
            "snapshot": source.snapshot.as_ref().map_or(json!(false), |word| json!(word))});
    }
    event
}

fn print_json(case: &Case, envelope: EnvelopeType, formats: &str) {
    let built = envelope.build();
    if !case.envelopes.contains(&built.name()) {
        return;
    }
    let bytes = EncodingType::Json.encode(&built.wrap(&case.event).unwrap()).unwrap();
    let is_cloud_event = formats.ends_with("cloudevents");
    let means = if is_cloud_event { cloud_meaning(case) } else { meaning(case) };
    let loss = match means["kind"].as_str() {
        Some("unknown") if is_cloud_event => ": nothing of it",
        Some("change") if is_cloud_event && case.event.source.schema.is_some() => ": its schema, told as a database",
        _ => "",
    };
    let title = format!("{}, {}{loss}", case.title, built.name());
    let value = json!(String::from_utf8(bytes.to_vec()).unwrap());
    print_line(&title, formats, &case.event, json!({}), value, means);
}

fn print_line(title: &str, formats: &str, event: &Event, more: Value, value: Value, means: Value) {
    let mut line = json!({"name": title, "from": FROM, "writtenBy": WRITTEN_BY, "formats": formats, "keyFormats": "none+text",
        "topic": "cdc.events", "key": event.idempotency_key(), "value": value, "event": means});
    for (name, item) in more.as_object().unwrap() {
        line[name] = item.clone();
    }
    println!("{line}");
}

/// What the outbox processor (crates/processors: outbox.rs) makes of a row: its payload alone, or in an envelope.
fn print_outbox() {
    let source = source("postgresql", "inv", None, "outbox", SourcePosition::default());
    let payload = json!({"total": 9007199254740993i64, "lines": [{"sku": "a"}]});
    let raw = row(source.clone(), Op::Create, None, Some(payload.clone()), Some("781"));
    let more = json!({"key": "order-17", "headers": [["df-aggregate-type", "order"], ["df-event-type", "OrderPlaced"], ["df-source-kind", "outbox"]]});
    let means = json!({"kind": "row", "key": "order-17", "row": {"total": {"$bigint": "9007199254740993"}, "lines": [{"sku": "a"}]}});
    print_line("an outbox's payload alone", "none+json+none", &raw, more, json!(payload.to_string()), means);
    let text = case("an outbox's payload that is text", row(source, Op::Create, None, Some(json!("placed")), Some("781")), json!({"kind": "unknown"}));
    print_json(&text.only(NATIVE), EnvelopeType::Native, "none+json+deltaforge");
}

/// What the sources tell of a table, for Avro by its columns.
struct Tables;

impl SourceSchemaProvider for Tables {
    fn get_envelope_schema(&self, connector: &str, db: &str, table: &str) -> Option<(String, Arc<Schema>)> {
        let options = TypeConversionOpts::default();
        let fields = match (connector, table) {
            ("mysql", "typed") => mysql_columns().iter().map(|column| mysql_column_to_avro(column, &options)).collect(),
            ("postgresql", "typed") => postgres_columns().iter().map(|column| postgres_column_to_avro(column, &options)).collect(),
            _ => return None,
        };
        let (text, schema) = build_envelope_schema(connector, db, table, build_value_schema(connector, db, table, fields)).unwrap();
        Some((text, Arc::new(schema)))
    }
}

fn column(name: &str, data_type: &str, nullable: bool) -> ColumnDesc {
    ColumnDesc { name: name.into(), data_type: data_type.into(), column_type: data_type.into(), nullable, precision: None, scale: None,
        unsigned: data_type == "bigint" && name == "unsigned", is_array: false, element_type: None }
}

fn mysql_columns() -> Vec<ColumnDesc> {
    [("id", "bigint"), ("unsigned", "bigint"), ("name", "varchar"), ("price", "decimal"), ("ratio", "double"), ("flag", "tinyint"),
        ("at", "datetime"), ("seen", "timestamp"), ("blob", "blob"), ("doc", "json"), ("kind", "enum"), ("none", "int")]
        .iter().map(|(name, data_type)| column(name, data_type, *name != "id")).collect()
}

fn postgres_columns() -> Vec<ColumnDesc> {
    [("id", "bigint"), ("name", "text"), ("amount", "numeric"), ("flag", "boolean"), ("uid", "uuid"), ("bin", "bytea"), ("at", "timestamp"),
        ("note", "text"), ("picture", "bytea"), ("day", "date")]
        .iter().map(|(name, data_type)| column(name, data_type, *name != "id")).collect()
}

fn print_avro() {
    let schemas = Arc::new(Mutex::new(BTreeMap::new()));
    let url = start_registry(schemas.clone());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (formats, envelope, case) in avro_cases() {
        schemas.lock().unwrap().clear();
        let encoder = AvroEncoder::with_source_schemas(&url, SubjectStrategy::TopicName, None, None, Some(Arc::new(Tables))).unwrap();
        let built = envelope.build();
        let source = &case.event.source;
        let wrapped = built.wrap(&case.event).unwrap();
        let bytes = runtime.block_on(encoder.encode_event("cdc.events", &wrapped, &source.connector, &source.db, &source.table)).unwrap();
        let known: Vec<Value> = schemas.lock().unwrap().iter().map(|(id, text): (&u32, &String)| json!({"id": id, "schema": serde_json::from_str::<Value>(text).unwrap()})).collect();
        let mut means = if formats.ends_with("cloudevents") { cloud_meaning(&case) } else { meaning(&case) };
        if source.table == "typed" {
            means["source"]["position"] = json!({"position": null}); // its schema has the position one level below where the event has it
        } else if formats.ends_with("deltaforge") {
            means["source"]["position"] = json!(source.position);
        }
        let value = json!({"base64": base64::engine::general_purpose::STANDARD.encode(&bytes)});
        print_line(&format!("{}, {}", case.title, built.name()), formats, &case.event, json!({"schemas": known}), value, means);
    }
}

fn avro_cases() -> Vec<(&'static str, EnvelopeType, Case)> {
    let typed = json!({"id": 9007199254740993i64, "unsigned": "18446744073709551615", "name": "new", "price": "12.30", "ratio": 0.5, "flag": 1,
        "at": "2024-02-29 12:00:00.500000", "seen": 1709208000500i64, "blob": {"_base64": "AQID"}, "doc": {"a": [1]}, "kind": 2, "none": null});
    let mut typed_means = typed.clone();
    typed_means["id"] = json!({"$bigint": "9007199254740993"});
    typed_means["seen"] = json!("2024-02-29T12:00:00.5Z");
    typed_means["blob"] = json!({"$bytes": "010203"});
    typed_means["doc"] = json!("{\"a\":[1]}");
    typed_means["kind"] = json!("2");
    let toast = json!({"id": 1, "name": "new", "amount": "12.30", "flag": true, "uid": "596e2758-26f0-4b27-b077-9e1f00112233",
        "bin": {"_base64": "/xA="}, "at": "2024-02-29 12:00:00.5", "note": {"_unchanged": true}, "picture": {"_unchanged": true}, "day": "2024-02-29"});
    let mut toast_means = toast.clone();
    toast_means["bin"] = json!({"$bytes": "ff10"});
    toast_means["note"] = json!({"$unavailable": "note"});
    toast_means["picture"] = json!({"$unavailable": "picture"});
    toast_means["day"] = json!("1970-01-01");
    let inferred = json!({"id": 9007199254740993i64, "name": "new", "price": "12.30", "ratio": 0.5, "blob": {"_base64": "AQID"}, "list": [1, 2], "none": null});
    let mut inferred_means = inferred.clone();
    inferred_means["id"] = json!({"$bigint": "9007199254740993"});
    inferred_means["blob"] = json!({"$bytes": "010203"});
    let create = |title, source, after, means| case(title, row(source, Op::Create, None, Some(after), None), change("create", Value::Null, means));
    vec![
        ("confluent+avro+deltaforge", EnvelopeType::Native,
            create("MySQL: Avro by the table's columns, without the position", mysql("typed"), typed, typed_means)),
        ("confluent+avro+deltaforge", EnvelopeType::Native, case("PostgreSQL: Avro by the table's columns, without the position, dates lost",
            row(postgres("typed"), Op::Update, None, Some(toast), None), change("update", Value::Null, toast_means))),
        ("confluent+avro+deltaforge", EnvelopeType::Native,
            create("MySQL: Avro by the values", mysql("inferred"), inferred.clone(), inferred_means.clone())),
        ("confluent+avro+deltaforge", EnvelopeType::Native,
            create("PostgreSQL: Avro by the values", postgres("orders"), inferred.clone(), inferred_means.clone())),
        ("confluent+avro+deltaforge", EnvelopeType::Debezium,
            create("MySQL: Avro by the values", mysql("inferred"), inferred.clone(), inferred_means.clone())),
        ("confluent+avro+cloudevents", EnvelopeType::CloudEvents { type_prefix: TYPE_PREFIX.into() },
            create("MySQL: Avro by the values", mysql("inferred"), inferred, inferred_means)),
    ]
}

/// The one call of a registry's API that the encoder makes: register a schema, be told its id.
fn start_registry(schemas: Arc<Mutex<BTreeMap<u32, String>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).unwrap();
                if let Some(text) = header.to_lowercase().strip_prefix("content-length:") {
                    length = text.trim().parse().unwrap();
                }
                if header.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let request: Value = serde_json::from_slice(&body).unwrap();
            schemas.lock().unwrap().insert(1, request["schema"].as_str().unwrap().to_string());
            let answer = "{\"id\":1}";
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}", answer.len()).unwrap();
        }
    });
    url
}
