// Lets TiCDC's own encoders write vectors, of rows that a TiDB inside of this program stored and TiCDC's own mounter read: see README.md one
// folder up. It is built inside of TiCDC, with that module's own go.mod, and writes the two files that it is given:
//
//	cp main.go tiflow/cmd/cdckit-vectors/ && cd tiflow
//	go run -ldflags=-checklinkname=0 ./cmd/cdckit-vectors .../test/vectors/decode/ticdc.ndjson .../test/vectors/topics/ticdc.ndjson
//
// The first has messages by themselves, of which tests try much: rows of few columns mostly. The second has whole topics, read once.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pingcap/log"
	"github.com/pingcap/tiflow/cdc/entry"
	"github.com/pingcap/tiflow/cdc/model"
	"github.com/pingcap/tiflow/pkg/config"
	"github.com/pingcap/tiflow/pkg/filter"
	"github.com/pingcap/tiflow/pkg/integrity"
	"github.com/pingcap/tiflow/pkg/sink/codec"
	"github.com/pingcap/tiflow/pkg/sink/codec/builder"
	"github.com/pingcap/tiflow/pkg/sink/codec/common"
	"github.com/pingcap/tiflow/pkg/spanz"
	"go.uber.org/zap/zapcore"
)

const writer = "TiCDC v9.0.0-beta.1"
const source = "github.com/pingcap/tiflow b67943012, pkg/sink/codec/"

// The commits of the rows, one TSO each: milliseconds above 18 bits of a counter.
const commitMs = 1723115239782
const commitTs = uint64(commitMs) << 18

type object = map[string]any

func big(digits string) object { return object{"$bigint": digits} }
func raw(hex string) object    { return object{"$bytes": hex} }

// A column of the wide table, what two rows hold in it, and what that means.
type column struct {
	name, ddl, first, second string
	means, meansThen         any
}

var columns = []column{
	{"id", "int primary key clustered", "1", "1", 1, 1},
	{"tiny", "tinyint", "-128", "127", -128, 127},
	{"tiny_u", "tinyint unsigned", "255", "0", 255, 0},
	{"small", "smallint", "-32768", "32767", -32768, 32767},
	{"small_u", "smallint unsigned", "65535", "0", 65535, 0},
	{"medium", "mediumint", "-8388608", "8388607", -8388608, 8388607},
	{"medium_u", "mediumint unsigned", "16777215", "0", 16777215, 0},
	{"num", "int", "-2147483648", "2147483647", -2147483648, 2147483647},
	{"num_u", "int unsigned", "4294967295", "2147483648", 4294967295, 2147483648},
	{"big", "bigint", "-9223372036854775808", "9007199254740993", big("-9223372036854775808"), big("9007199254740993")},
	{"big_u", "bigint unsigned", "18446744073709551615", "9007199254740993", big("18446744073709551615"), big("9007199254740993")},
	{"flag", "bool", "true", "false", 1, 0},
	{"price", "decimal(20,6)", "-12345678901234.5678", "0.1", "-12345678901234.567800", "0.100000"},
	{"wide", "decimal(65,30) unsigned", "12345678901234567890123456789012345.1", "0", "12345678901234567890123456789012345.100000000000000000000000000000", "0.000000000000000000000000000000"},
	{"f", "float", "3.14", "-0.5", 3.140000104904175, -0.5},
	{"d", "double", "2.718281828459045", "1e300", 2.718281828459045, 1e300},
	{"bit1", "bit(1)", "b'1'", "b'0'", true, false},
	{"bit10", "bit(10)", "b'1000000011'", "b'11'", "1000000011", "0000000011"},
	{"bit64", "bit(64)", "x'ffffffffffffffff'", "b'1'", strings.Repeat("1", 64), strings.Repeat("0", 63) + "1"},
	{"c", "char(8)", "'ab'", "''", "ab", ""},
	{"v", "varchar(64)", "'h\u00e9llo \u4e16\u754c \U0001f389 \"q\" \\\\ \\n'", "'null'", "h\u00e9llo \u4e16\u754c \U0001f389 \"q\" \\ \n", "null"},
	{"txt", "text", "'\u00fc'", "''", "\u00fc", ""},
	{"long_txt", "longtext", "'a\\tb'", "'0'", "a\tb", "0"},
	{"bin", "binary(4)", "x'00ff'", "x'22'", raw("00ff0000"), raw("22000000")},
	{"vbin", "varbinary(8)", "x'c328ff5c00'", "x''", raw("c328ff5c00"), raw("")},
	{"tiny_b", "tinyblob", "x'00'", "'ab'", raw("00"), raw("6162")},
	{"b", "blob", "x'deadbeefc328'", "x''", raw("deadbeefc328"), raw("")},
	{"day", "date", "'2024-02-29'", "'1969-07-20'", "2024-02-29", "1969-07-20"},
	{"at", "datetime", "'2024-02-29 23:59:59'", "'9999-12-31 00:00:00'", "2024-02-29T23:59:59", "9999-12-31T00:00:00"},
	{"at6", "datetime(6)", "'2024-02-29 23:59:59.999999'", "'1969-07-20 20:17:40.5'", "2024-02-29T23:59:59.999999", "1969-07-20T20:17:40.5"},
	{"ts", "timestamp", "'2024-02-29 12:00:00'", "'1970-01-01 00:00:01'", "2024-02-29T12:00:00", "1970-01-01T00:00:01"},
	{"ts6", "timestamp(6)", "'2038-01-19 03:14:07.999999'", "'2024-02-29 12:00:00.25'", "2038-01-19T03:14:07.999999", "2024-02-29T12:00:00.25"},
	{"t", "time", "'-838:59:59'", "'00:00:00'", "-838:59:59", "00:00:00"},
	{"t6", "time(6)", "'23:59:59.999999'", "'-00:00:00.5'", "23:59:59.999999", "-00:00:00.5"},
	{"y", "year", "1901", "2155", 1901, 2155},
	{"e", "enum('a','it''s, ok','c')", "'it\\'s, ok'", "'a'", "it's, ok", "a"},
	{"digits", "enum('3','1','2')", "'3'", "'2'", "3", "2"},
	{"s", "set('a','b','c')", "'c,a'", "''", []string{"a", "c"}, []string{}},
	{"j", "json", "'{\"b\":9007199254740993,\"a\":[1,2.5,null,\"\u00fc\"]}'", "'[]'", "{\"a\": [1, 2.5, null, \"\u00fc\"], \"b\": 9007199254740993}", "[]"},
	{"vec", "vector(3)", "'[1,-2.5,3]'", "'[0,0,0]'", "[1,-2.5,3]", "[0,0,0]"},
	{"none", "varchar(4)", "null", "'null'", nil, "null"},
}

// What a format does not say of these values: by the column, in both rows.
type losses map[string][2]any

var digitsOnly = losses{"bit1": {"1", "0"}, "bit10": {"1000000011", "11"}, "bit64": {strings.Repeat("1", 64), "1"}}
var indexTexts = losses{"e": {"2", "1"}, "digits": {"1", "3"}, "s": {"5", "0"}}
var indexes = losses{"e": {2, 1}, "digits": {1, 3}, "s": {5, 0}}
var inUtc = losses{"ts": {"2024-02-29T12:00:00Z", "1970-01-01T00:00:01Z"}, "ts6": {"2038-01-19T03:14:07.999999Z", "2024-02-29T12:00:00.25Z"}}
var nothing = losses{}

// In Debezium's format, TiCDC writes decimals as doubles. Where its schemas do not state TiDB's types, the largest BIGINT UNSIGNED is -1, and
// bytes are base64 under a schema of text.
var asDoubles = losses{"price": {-12345678901234.5678, 0.1}, "wide": {1.234567890123457e34, 0}}
var untyped = losses{
	"big_u": {-1, big("9007199254740993")},
	"bin":   {"AP8AAA==", "IgAAAA=="}, "vbin": {"wyj/XAA=", ""}, "tiny_b": {"AA==", "YWI="}, "b": {"3q2+78Mo", ""},
}

// Its zoned timestamps are text, and stay as they were written.
var zonedTexts = losses{"ts": {"2024-02-29T12:00:00Z", "1970-01-01T00:00:01Z"}, "ts6": {"2038-01-19T03:14:07.999999Z", "2024-02-29T12:00:00.250000Z"}}

// What a row means in a format that loses these; the row after the update where it is not the first.
func means(isSecond bool, lost ...losses) object {
	row := object{}
	for _, one := range columns {
		row[one.name] = one.means
		if isSecond {
			row[one.name] = one.meansThen
		}
		for _, each := range lost {
			if values, is := each[one.name]; is {
				row[one.name] = values[0]
				if isSecond {
					row[one.name] = values[1]
				}
			}
		}
	}
	return row
}

// A row without any value but its id.
func empty() object {
	row := object{}
	for _, one := range columns {
		row[one.name] = nil
	}
	row["id"] = 2
	return row
}

// A TiDB, and TiCDC's reading of what changes in it.
type upstream struct {
	b       *testing.B
	helper  *entry.SchemaTestHelper
	mounter entry.Mounter
	rows    map[string]string
	commits uint64
}

func newUpstream(b *testing.B) *upstream {
	replica := config.GetDefaultReplicaConfig()
	replica.Integrity.IntegrityCheckLevel = integrity.CheckLevelCorrectness
	helper := entry.NewSchemaTestHelperWithReplicaConfig(b, replica)
	helper.Tk().MustExec("set time_zone = '+00:00'")
	rules := must(filter.NewFilter(replica, ""))
	mounter := entry.NewMounter(helper.SchemaStorage(), model.DefaultChangeFeedID("vectors"), time.UTC, rules, replica.Integrity)
	return &upstream{b: b, helper: helper, mounter: mounter, rows: map[string]string{}}
}

func (u *upstream) ddl(sql string) *model.DDLEvent {
	event := u.helper.DDL2Event(sql)
	if event.CommitTs != 0 {
		u.commits++
		event.CommitTs = commitTs + u.commits
	}
	return event
}

// Runs a statement that changes one row of the table, and gives the change as TiCDC reads it.
func (u *upstream) dml(sql, schema, table string) *model.RowChangedEvent {
	tableInfo, _ := u.helper.SchemaStorage().GetLastSnapshot().TableByName(schema, table)
	u.helper.Tk().MustExec(sql)
	found := u.stored(tableInfo.ID)
	ts := u.helper.SchemaStorage().GetLastSnapshot().CurrentTs()
	change := &model.RawKVEntry{OpType: model.OpTypePut, StartTs: ts - 1, CRTs: ts + 1}
	prefix := fmt.Sprint(tableInfo.ID, " ")
	for key, value := range found {
		if u.rows[prefix+key] != value {
			change.Key, change.Value, change.OldValue = []byte(key), []byte(value), []byte(u.rows[prefix+key])
		}
		u.rows[prefix+key] = value
	}
	for key, value := range u.rows {
		if plain, is := strings.CutPrefix(key, prefix); is && found[plain] == "" {
			change.Key, change.OldValue, change.OpType = []byte(plain), []byte(value), model.OpTypeDelete
			delete(u.rows, key)
		}
	}
	event := model.NewPolymorphicEvent(change)
	check(u.mounter.DecodeEvent(context.Background(), event))
	u.commits++
	event.Row.CommitTs = commitTs + u.commits
	return event.Row
}

func (u *upstream) stored(tableID int64) map[string]string {
	txn := must(u.helper.Storage().Begin())
	defer txn.Rollback() //nolint:errcheck
	start, end := spanz.GetTableRange(tableID)
	rows := map[string]string{}
	iter := must(txn.Iter(start, end))
	for ; iter.Valid(); check(iter.Next()) {
		rows[string(iter.Key())] = string(iter.Value())
	}
	return rows
}

// A registry that gives ids, and remembers what for.
type registry struct {
	server  *httptest.Server
	schemas []string
}

const firstId = 7

func newRegistry() *registry {
	r := &registry{}
	r.server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodGet {
			io.WriteString(answer, "{}") //nolint:errcheck
			return
		}
		var sent struct{ Schema string }
		check(json.NewDecoder(request.Body).Decode(&sent))
		r.schemas = append(r.schemas, sent.Schema)
		fmt.Fprintf(answer, `{"id":%d}`, firstId+len(r.schemas)-1)
	}))
	return r
}

func (r *registry) written() []object {
	list := []object{}
	for i, schema := range r.schemas {
		var parsed any
		check(json.Unmarshal([]byte(schema), &parsed))
		list = append(list, object{"id": firstId + i, "schema": parsed})
	}
	return list
}

// One setting of one protocol, and the encoder that TiCDC makes of it.
type protocol struct {
	name, folder, formats, keyFormats string
	encoder                           codec.RowEventEncoder
	registry                          *registry
	options                           object
	topic                             string
}

func newProtocol(name, folder, formats, keyFormats string, kind config.Protocol, set func(*common.Config)) *protocol {
	p := &protocol{name: name, folder: folder, formats: formats, keyFormats: keyFormats, topic: "inv.types"}
	settings := common.NewConfig(kind).WithChangefeedID(model.DefaultChangeFeedID("vectors"))
	settings.TimeZone = time.UTC
	if kind == config.ProtocolAvro {
		p.registry = newRegistry()
		settings.AvroConfluentSchemaRegistry = p.registry.server.URL
	}
	set(settings)
	check(settings.Validate())
	p.encoder = must(builder.NewRowEventEncoderBuilder(context.Background(), settings)).Build()
	return p
}

func (p *protocol) rows(events ...*model.RowChangedEvent) []*common.Message {
	for _, event := range events {
		copied := *event // encoders may clear what they have read
		check(p.encoder.AppendRowChangedEvent(context.Background(), p.topic, &copied, nil))
	}
	return p.encoder.Build()
}

// The line of a message; `means` are its events' fields.
func (p *protocol) line(what string, message *common.Message, means ...object) object {
	if message == nil {
		panic(p.name + ": " + what + " is no message")
	}
	line := object{"name": p.name + ": " + what, "from": source + p.folder, "writtenBy": writer, "topic": p.topic, "value": written(message.Value)}
	if message.Value != nil {
		line["formats"] = p.formats
	}
	if message.Key != nil {
		line["key"] = written(message.Key)
		if p.keyFormats != "" {
			line["keyFormats"] = p.keyFormats
		}
	}
	if p.options != nil {
		line["options"] = p.options
	}
	if p.registry != nil {
		line["schemas"] = p.registry.written()
	}
	if len(means) == 1 {
		line["event"] = means[0]
	} else {
		line["events"] = means
	}
	return line
}

func written(data []byte) any {
	if data == nil {
		return nil
	}
	if utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		return string(data)
	}
	return object{"base64": base64.StdEncoding.EncodeToString(data)}
}

func print(path string, lines []object) {
	out := must(os.Create(path))
	defer out.Close()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, line := range lines {
		check(encoder.Encode(line))
	}
}

func with(base object, more object) object {
	merged := maps.Clone(base)
	maps.Copy(merged, more)
	return merged
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	if len(os.Args) != 3 {
		panic("expected the paths of two files to write")
	}
	log.SetLevel(zapcore.FatalLevel)
	var once sync.Once
	// TiDB's test kit wants a test or a benchmark around it.
	testing.Benchmark(func(b *testing.B) { once.Do(func() { writeAll(newUpstream(b)) }) })
}

// What happens upstream, as TiCDC reads it.
type changes struct {
	create, alter, truncate                                *model.DDLEvent
	insert, update, remove, nulls                          *model.RowChangedEvent
	pair, otherPair, movedPair, removedPair, afterAddition *model.RowChangedEvent
}

func happen(u *upstream) changes {
	var definitions, names, firsts, assignments []string
	for _, one := range columns {
		definitions = append(definitions, fmt.Sprintf("`%s` %s", one.name, one.ddl))
		names = append(names, "`"+one.name+"`")
		firsts = append(firsts, one.first)
		assignments = append(assignments, fmt.Sprintf("`%s` = %s", one.name, one.second))
	}
	var c changes
	u.ddl("create database inv")
	u.ddl("create table inv.types (" + strings.Join(definitions, ", ") + ")")
	c.insert = u.dml("insert into inv.types ("+strings.Join(names, ", ")+") values ("+strings.Join(firsts, ", ")+")", "inv", "types")
	c.update = u.dml("update inv.types set "+strings.Join(assignments[1:], ", ")+" where id = 1", "inv", "types")
	c.remove = u.dml("delete from inv.types where id = 1", "inv", "types")
	c.nulls = u.dml("insert into inv.types (id) values (2)", "inv", "types")
	c.create = u.ddl("create table inv.pairs (a int, b varchar(8), v text, primary key (a, b) nonclustered)")
	c.pair = u.dml("insert into inv.pairs values (1, 'x', 'one')", "inv", "pairs")
	c.otherPair = u.dml("insert into inv.pairs values (2, 'y', null)", "inv", "pairs")
	c.movedPair = u.dml("update inv.pairs set a = 3 where a = 1", "inv", "pairs")
	c.removedPair = u.dml("delete from inv.pairs where a = 2", "inv", "pairs")
	c.alter = u.ddl("alter table inv.pairs add column w int unsigned default 5")
	c.afterAddition = u.dml("insert into inv.pairs values (4, 'z', '', 4294967295)", "inv", "pairs")
	c.truncate = u.ddl("truncate table inv.pairs")
	return c
}

// The fields of a change; `where` is its position.
func changed(connector, op string, event *model.RowChangedEvent, key, before, after any, where object) object {
	table := object{"database": "inv", "name": event.TableInfo.GetTableName()}
	from := object{"connector": connector, "tsMs": commitMs, "position": where}
	return object{"kind": "change", "op": op, "table": table, "key": key, "before": before, "after": after, "source": from}
}

func defined(event *model.DDLEvent, connector string) object {
	return object{"kind": "schema-change", "ddl": event.Query, "database": "inv", "schema": nil, "source": object{"connector": connector, "tsMs": commitMs}}
}

func tso(ts uint64) object { return big(fmt.Sprint(ts)) }

var id = object{"id": 1}
var watermarkTs = commitTs + 1000

func watermark() object {
	return object{"kind": "watermark", "watermark": tso(watermarkTs), "tsMs": commitMs}
}

func truncated() object {
	return object{"kind": "truncate", "table": object{"database": "inv", "name": "pairs"}}
}

func pair(a int, b string, v any) object { return object{"a": a, "b": b, "v": v} }

// Messages by themselves, and those that stand in topics.
type lines struct{ single, topics []object }

func (l *lines) add(more lines) {
	l.single, l.topics = append(l.single, more.single...), append(l.topics, more.topics...)
}

func writeAll(u *upstream) {
	c := happen(u)
	var all lines
	all.add(canalLines(c))
	all.add(canalProtobufLines(c))
	all.add(openLines(c))
	all.add(avroLines(c))
	all.add(debeziumLines(c))
	all.add(lines{single: maxwellLines(c), topics: largeLines(c)})
	all.add(simpleLines(c))
	print(os.Args[1], all.single)
	print(os.Args[2], statedOnce(all.topics))
}

// The first message of a topic states what its decoder needs.
func statedOnce(topics []object) []object {
	known := map[any]bool{}
	for _, line := range topics {
		if known[line["topic"]] {
			delete(line, "schemas")
			delete(line, "options")
		}
		known[line["topic"]] = true
	}
	return topics
}

// What happened to the rows of the few columns, whatever else the fields of such an event are.
type fieldsOf func(op string, event *model.RowChangedEvent, key, before, after any) object

func moved(c changes, fields fieldsOf) object {
	return fields("update", c.movedPair, object{"a": 3, "b": "x"}, pair(1, "x", "one"), pair(3, "x", "one"))
}

func removed(c changes, fields fieldsOf) object {
	return fields("delete", c.removedPair, object{"a": 2, "b": "y"}, pair(2, "y", nil), nil)
}

// The life of the wide row, and a row of nulls.
func wideTopic(p *protocol, c changes, first, second object, fields fieldsOf) []object {
	return []object{
		p.line("an insert", p.rows(c.insert)[0], fields("create", c.insert, id, nil, first)),
		p.line("an update", p.rows(c.update)[0], fields("update", c.update, id, first, second)),
		p.line("a delete", p.rows(c.remove)[0], fields("delete", c.remove, id, second, nil)),
		p.line("a row of nulls", p.rows(c.nulls)[0], fields("create", c.nulls, object{"id": 2}, nil, empty())),
	}
}

func canalLines(c changes) lines {
	newCanal := func(name, formats string, set func(*common.Config)) *protocol {
		return newProtocol("canal-json"+name, "canal", "none+json+"+formats, "", config.ProtocolCanalJSON, set)
	}
	plain := newCanal("", "canal", func(*common.Config) {})
	extended := newCanal(", enable-tidb-extension", "ticdc-canal-json", func(s *common.Config) { s.EnableTiDBExtension = true })
	full := newCanal(", enable-tidb-extension, content-compatible", "ticdc-canal-json", func(s *common.Config) {
		s.EnableTiDBExtension, s.ContentCompatible, s.OnlyOutputUpdatedColumns = true, true, true
	})
	keyOnly := newCanal(", enable-tidb-extension, delete-only-output-handle-key-columns", "ticdc-canal-json", func(s *common.Config) {
		s.EnableTiDBExtension, s.DeleteOnlyHandleKeyColumns = true, true
	})
	plain.topic, extended.topic, full.topic = "canal.inv.types", "ticdc-canal.inv.types", "full-canal.inv.types"
	fields := func(op string, event *model.RowChangedEvent, key, before, after any) object {
		return changed("tidb", op, event, key, before, after, object{"id": 0, "commit_ts": tso(event.CommitTs)})
	}
	plainFields := func(op string, event *model.RowChangedEvent, key, before, after any) object {
		return changed("mysql", op, event, key, before, after, object{"id": 0})
	}
	// Without content-compatible, the length of a BIT and the members of an ENUM and a SET are not stated.
	first, second := means(false, digitsOnly, indexTexts), means(true, digitsOnly, indexTexts)
	return lines{
		single: []object{
			plain.line("an update of the primary key", plain.rows(c.movedPair)[0], moved(c, plainFields)),
			plain.line("DDL", must(plain.encoder.EncodeDDLEvent(c.create)), defined(c.create, "mysql")),
			extended.line("an insert", extended.rows(c.insert)[0], fields("create", c.insert, id, nil, first)),
			extended.line("an update of the primary key", extended.rows(c.movedPair)[0], moved(c, fields)),
			extended.line("a delete", extended.rows(c.removedPair)[0], removed(c, fields)),
			extended.line("DDL", must(extended.encoder.EncodeDDLEvent(c.alter)), defined(c.alter, "tidb")),
			extended.line("a truncate", must(extended.encoder.EncodeDDLEvent(c.truncate)), truncated()),
			extended.line("a watermark", must(extended.encoder.EncodeCheckpointEvent(watermarkTs)), watermark()),
			full.line("an update, of which old has what was changed", full.rows(c.movedPair)[0], moved(c, fields)),
			keyOnly.line("a delete", keyOnly.rows(c.removedPair)[0],
				fields("delete", c.removedPair, object{"a": 2, "b": "y"}, object{"a": 2, "b": "y"}, nil)),
		},
		topics: append(append(wideTopic(plain, c, first, second, plainFields), wideTopic(extended, c, first, second, fields)...),
			wideTopic(full, c, means(false), means(true), fields)...),
	}
}

func canalProtobufLines(c changes) lines {
	p := newProtocol("canal", "canal", "none+canal-protobuf+canal", "", config.ProtocolCanal, func(*common.Config) {})
	p.topic = "binary-canal.inv.types"
	p.options = object{"topics": object{p.topic: object{"value": object{"encoding": "canal-protobuf"}}}}
	fields := func(op string, event *model.RowChangedEvent, key, before, after any) object {
		return changed("mysql", op, event, key, before, after, object{})
	}
	two := func(events ...*model.RowChangedEvent) *common.Message { return p.rows(events...)[0] }
	return lines{
		single: []object{p.line("an update of the primary key and a delete in one message", two(c.movedPair, c.removedPair), moved(c, fields), removed(c, fields))},
		topics: append(wideTopic(p, c, means(false, digitsOnly, indexTexts), means(true, digitsOnly, indexTexts), fields),
			p.line("DDL", must(p.encoder.EncodeDDLEvent(c.create)), defined(c.create, "mysql"))),
	}
}

func openLines(c changes) lines {
	open := newProtocol("open protocol", "open", "ticdc+json+ticdc-open", "ticdc+json", config.ProtocolOpen, func(*common.Config) {})
	keyOnly := newProtocol("open protocol, handle-key-only", "open", "ticdc+json+ticdc-open", "ticdc+json", config.ProtocolOpen, func(s *common.Config) {
		s.MaxMessageBytes = 1024
		s.LargeMessageHandle.LargeMessageHandleOption = config.LargeMessageHandleOptionHandleKeyOnly
	})
	open.topic = "open.inv.types"
	where := func(event *model.RowChangedEvent) object {
		return object{"commit_ts": tso(event.CommitTs), "rowId": event.RowID}
	}
	fields := func(op string, event *model.RowChangedEvent, key, before, after any) object {
		return changed("tidb", op, event, key, before, after, where(event))
	}
	// The length of a BIT and the members of an ENUM and a SET are not stated.
	first, second := means(false, digitsOnly, indexes), means(true, digitsOnly, indexes)
	return lines{
		single: []object{
			open.line("an insert", open.rows(c.insert)[0], fields("create", c.insert, id, nil, first)),
			open.line("a delete", open.rows(c.removedPair)[0], removed(c, fields)),
			open.line("three rows in one message, the last of another primary key than before", open.rows(c.pair, c.otherPair, c.movedPair)[0],
				fields("create", c.pair, object{"a": 1, "b": "x"}, nil, pair(1, "x", "one")),
				fields("create", c.otherPair, object{"a": 2, "b": "y"}, nil, pair(2, "y", nil)), moved(c, fields)),
			open.line("DDL", must(open.encoder.EncodeDDLEvent(c.create)), defined(c.create, "tidb")),
			open.line("a truncate", must(open.encoder.EncodeDDLEvent(c.truncate)), truncated()),
			open.line("a watermark", must(open.encoder.EncodeCheckpointEvent(watermarkTs)), watermark()),
			keyOnly.line("an insert that is too large", keyOnly.rows(c.insert)[0],
				changed("tidb", "create", c.insert, id, nil, id, with(where(c.insert), object{"onlyHandleKey": true}))),
		},
		topics: wideTopic(open, c, first, second, fields),
	}
}

func avroLines(c changes) lines {
	newAvro := func(name, formats, topic string, set func(*common.Config)) *protocol {
		p := newProtocol("avro"+name, "avro", formats, "confluent+avro", config.ProtocolAvro, set)
		p.topic = topic
		return p
	}
	extend := func(s *common.Config) { s.EnableTiDBExtension = true }
	ofPairs := newAvro(", enable-tidb-extension", "confluent+avro+ticdc-avro", "inv.pairs", extend)
	plain := newAvro("", "confluent+avro+none", "avro.types", func(*common.Config) {})
	extended := newAvro(", enable-tidb-extension", "confluent+avro+ticdc-avro", "ticdc-avro.types", extend)
	texts := newAvro(", enable-tidb-extension, decimals and BIGINT UNSIGNED as strings, checksums", "confluent+avro+ticdc-avro", "avro-texts.types", func(s *common.Config) {
		s.EnableTiDBExtension, s.EnableRowChecksum = true, true
		s.AvroDecimalHandlingMode, s.AvroBigintUnsignedHandlingMode = common.DecimalHandlingModeString, common.BigintUnsignedHandlingModeString
	})
	where := func(event *model.RowChangedEvent) object { return object{"commit_ts": tso(event.CommitTs)} }
	checked := func(event *model.RowChangedEvent) object {
		return with(where(event), object{
			"row_level_checksum": fmt.Sprint(event.Checksum.Current), "checksum_version": event.Checksum.Version, "corrupted": false,
		})
	}
	inTable := func(op string, event *model.RowChangedEvent, key, after any, where object) object {
		table := object{"table": object{"name": event.TableInfo.GetTableName()}} // from the topic
		return with(changed("tidb", op, event, key, nil, after, where), table)
	}
	table := object{"table": object{"name": "types"}}
	return lines{
		single: []object{
			ofPairs.line("an update of the primary key, without the row before", ofPairs.rows(c.movedPair)[0],
				inTable("update", c.movedPair, object{"a": 3, "b": "x"}, pair(3, "x", "one"), where(c.movedPair))),
			ofPairs.line("a delete", ofPairs.rows(c.removedPair)[0],
				object{"kind": "tombstone", "key": object{"a": 2, "b": "y"}, "table": object{"name": "pairs"}}),
			extended.line("an insert", extended.rows(c.insert)[0], inTable("create", c.insert, id, means(false), where(c.insert))),
		},
		topics: []object{
			plain.line("an insert", plain.rows(c.insert)[0], with(object{"kind": "row", "key": id, "row": means(false)}, table)),
			extended.line("an insert", extended.rows(c.insert)[0], inTable("create", c.insert, id, means(false), where(c.insert))),
			extended.line("an update, without the row before", extended.rows(c.update)[0], inTable("update", c.update, id, means(true), where(c.update))),
			extended.line("a delete", extended.rows(c.remove)[0], with(object{"kind": "tombstone", "key": id}, table)),
			extended.line("a row of nulls", extended.rows(c.nulls)[0], inTable("create", c.nulls, object{"id": 2}, empty(), where(c.nulls))),
			texts.line("an insert", texts.rows(c.insert)[0], inTable("create", c.insert, id, means(false), checked(c.insert))),
			texts.line("an update, without the row before", texts.rows(c.update)[0], inTable("update", c.update, id, means(true), checked(c.update))),
		},
	}
}

func debeziumLines(c changes) lines {
	newDebezium := func(name, encoding string, set func(*common.Config)) *protocol {
		return newProtocol("debezium"+name, "debezium", "none+"+encoding+"+debezium", "none+"+encoding, config.ProtocolDebezium, set)
	}
	schemas := newDebezium("", "connect-json", func(*common.Config) {})
	extended := newDebezium(", enable-tidb-extension", "connect-json", func(s *common.Config) { s.EnableTiDBExtension = true })
	plain := newDebezium(", debezium-disable-schema", "json", func(s *common.Config) { s.EnableTiDBExtension, s.DebeziumDisableSchema = true, true })
	schemas.topic, extended.topic = "debezium.inv.types", "ticdc-debezium.inv.types"
	fields := func(op string, event *model.RowChangedEvent, key, before, after any) object {
		where := object{"server_id": 0, "gtid": nil, "file": "", "pos": 0, "row": 0, "thread": 0, "query": nil, "cluster_id": "default"}
		return changed("TiCDC", op, event, key, before, after, with(where, object{"commit_ts": tso(event.CommitTs)}))
	}
	first, second := means(false, asDoubles, untyped, zonedTexts), means(true, asDoubles, untyped, zonedTexts)
	typedFirst, typedSecond := means(false, asDoubles, zonedTexts), means(true, asDoubles, zonedTexts)
	return lines{
		single: []object{
			schemas.line("an update of the primary key", schemas.rows(c.movedPair)[0], moved(c, fields)),
			extended.line("a delete", extended.rows(c.removedPair)[0], removed(c, fields)),
			extended.line("DDL", must(extended.encoder.EncodeDDLEvent(c.create)), defined(c.create, "TiCDC")),
			extended.line("a watermark", must(extended.encoder.EncodeCheckpointEvent(watermarkTs)), watermark()),
			plain.line("an update of the primary key", plain.rows(c.movedPair)[0], moved(c, fields)),
			plain.line("a delete", plain.rows(c.removedPair)[0], removed(c, fields)),
			plain.line("DDL", must(plain.encoder.EncodeDDLEvent(c.alter)), defined(c.alter, "TiCDC")),
			plain.line("a watermark", must(plain.encoder.EncodeCheckpointEvent(watermarkTs)), watermark()),
		},
		topics: append(wideTopic(schemas, c, first, second, fields), wideTopic(extended, c, typedFirst, typedSecond, fields)...),
	}
}

// Messages that are too large: what is left of them, where the whole row is, and that file's name as it was found on the disk.
func largeLines(c changes) (topics []object) {
	for _, one := range []struct {
		name, folder, formats, keyFormats string
		kind                              config.Protocol
		where                             object
		key                               any
		left                              object
	}{
		{"canal-json", "canal", "none+json+ticdc-canal-json", "", config.ProtocolCanalJSON, object{"id": 0}, id, id},
		{"open protocol", "open", "ticdc+json+ticdc-open", "ticdc+json", config.ProtocolOpen, object{"rowId": 1}, id, id},
		{"simple", "simple", "none+json+ticdc-simple", "", config.ProtocolSimple,
			object{"tableID": c.insert.GetTableID(), "schemaVersion": tso(c.insert.TableInfo.UpdateTS), "handleKeyOnly": true}, nil, object{"id": "1"}},
	} {
		folder := must(os.MkdirTemp("", "claim-check"))
		defer os.RemoveAll(folder)
		for _, option := range []string{config.LargeMessageHandleOptionHandleKeyOnly, config.LargeMessageHandleOptionClaimCheck} {
			p := newProtocol(one.name+", "+option, one.folder, one.formats, one.keyFormats, one.kind, func(s *common.Config) {
				s.EnableTiDBExtension = one.kind == config.ProtocolCanalJSON
				s.MaxMessageBytes = 1024
				s.LargeMessageHandle.LargeMessageHandleOption = option
				s.LargeMessageHandle.ClaimCheckStorageURI = "file://" + folder
			})
			p.topic = fmt.Sprintf("%s-%s.inv.types", option, one.folder)
			message := p.rows(c.insert)[0]
			where := with(one.where, object{"commit_ts": tso(c.insert.CommitTs)})
			if option == config.LargeMessageHandleOptionClaimCheck {
				where["claimCheckLocation"] = "file://" + folder + "/" + must(os.ReadDir(folder))[0].Name()
			} else if one.kind != config.ProtocolSimple {
				where["onlyHandleKey"] = true
			}
			topics = append(topics, p.line("an insert that is too large", message, changed("tidb", "create", c.insert, one.key, nil, one.left, where)))
		}
	}
	return topics
}

func maxwellLines(c changes) []object {
	several := newProtocol("maxwell", "maxwell", "ticdc+json+maxwell", "none+text", config.ProtocolMaxwell, func(*common.Config) {})
	one := newProtocol("maxwell", "maxwell", "none+json+maxwell", "none+text", config.ProtocolMaxwell, func(*common.Config) {})
	fields := func(op string, before, after any) object {
		return object{"kind": "change", "op": op, "table": object{"database": "inv", "name": "pairs"}, "key": nil, "before": before, "after": after}
	}
	moved := fields("update", pair(1, "x", "one"), pair(3, "x", "one"))
	return []object{
		one.line("an update of the primary key", one.rows(c.movedPair)[0], moved),
		several.line("two rows in one message", several.rows(c.otherPair, c.movedPair)[0], fields("create", nil, pair(2, "y", nil)), moved),
	}
}

// A schema comes before the rows that it explains.
func simpleLines(c changes) lines {
	var avroSchema bytes.Buffer
	check(json.Compact(&avroSchema, must(os.ReadFile("pkg/sink/codec/simple/message.json"))))
	inJson := newProtocol("simple", "simple", "none+json+ticdc-simple", "", config.ProtocolSimple, func(s *common.Config) { s.EnableRowChecksum = true })
	inAvro := newProtocol("simple, encoding-format avro", "simple", "none+avro+ticdc-simple", "", config.ProtocolSimple,
		func(s *common.Config) { s.EncodingFormat, s.EnableRowChecksum = common.EncodingFormatAvro, true })
	inJson.topic, inAvro.topic = "simple.inv.types", "avro-simple.inv.types"
	hint := object{"value": object{"schema": object{"schemaType": "AVRO", "schema": avroSchema.String()}}}
	inAvro.options = object{"topics": object{inAvro.topic: hint}}
	var all lines
	for _, p := range []*protocol{inJson, inAvro} {
		all.topics = append(all.topics, simpleTopic(p, c)...)
	}
	all.single = []object{
		inJson.line("DDL of a table that was there", must(inJson.encoder.EncodeDDLEvent(c.alter)), defined(c.alter, "tidb")),
		inJson.line("a truncate", must(inJson.encoder.EncodeDDLEvent(c.truncate)), truncated()),
		inJson.line("a watermark", must(inJson.encoder.EncodeCheckpointEvent(watermarkTs)), watermark()),
		inJson.line("an update before any schema, whose columns are not known", inJson.rows(c.movedPair)[0], simpleFields("update", c.movedPair, nil,
			object{"a": "1", "b": "x", "v": "one"}, object{"a": "3", "b": "x", "v": "one"})),
		inAvro.line("an update before any schema, whose key is not known", inAvro.rows(c.movedPair)[0],
			simpleFields("update", c.movedPair, nil, pair(1, "x", "one"), pair(3, "x", "one"))),
		inAvro.line("DDL", must(inAvro.encoder.EncodeDDLEvent(c.create)), defined(c.create, "tidb")),
	}
	return all
}

func simpleFields(op string, event *model.RowChangedEvent, key, before, after any) object {
	sums := object{"version": event.Checksum.Version, "corrupted": false, "current": event.Checksum.Current, "previous": event.Checksum.Previous}
	version := tso(event.TableInfo.UpdateTS)
	where := object{"commit_ts": tso(event.CommitTs), "tableID": event.GetTableID(), "schemaVersion": version, "checksum": sums}
	return changed("tidb", op, event, key, before, after, where)
}

func simpleTopic(p *protocol, c changes) []object {
	bootstrap := p.line("a bootstrap", must(p.encoder.EncodeDDLEvent(model.NewBootstrapDDLEvent(c.insert.TableInfo))),
		object{"kind": "schema-change", "database": "inv", "ddl": nil})
	bootstrap["learnsSchemaChanges"] = true
	return append(append([]object{bootstrap}, wideTopic(p, c, means(false, inUtc), means(true, inUtc), simpleFields)...),
		p.line("DDL", must(p.encoder.EncodeDDLEvent(c.create)), defined(c.create, "tidb")),
		p.line("an update of the primary key", p.rows(c.movedPair)[0], moved(c, simpleFields)),
		p.line("a delete of another table's row", p.rows(c.removedPair)[0], removed(c, simpleFields)),
		p.line("DDL of a table that was there", must(p.encoder.EncodeDDLEvent(c.alter)), defined(c.alter, "tidb")),
		p.line("a row of the table as it became", p.rows(c.afterAddition)[0], simpleFields("create", c.afterAddition, object{"a": 4, "b": "z"}, nil,
			with(pair(4, "z", ""), object{"w": 4294967295}))),
		p.line("a truncate", must(p.encoder.EncodeDDLEvent(c.truncate)), truncated()),
		p.line("a watermark", must(p.encoder.EncodeCheckpointEvent(watermarkTs)), watermark()),
	)
}
