package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// A recordedDir describes a data directory that an earlier revision has left,
// in NAME.tar.gz beside it, and has that revision's answers.
type recordedDir struct {
	Revision string         `json:"revision"` // of the program that made it
	Args     []string       `json:"args"`     // to open it with
	Mine     string         `json:"mine"`     // descriptor to mine to
	Calls    []recordedCall `json:"-"`        // a line each behind the others
}

// A recordedCall is a call and its reply, less what need not be the same.
type recordedCall struct {
	Path   string          `json:"path"` // of the URL
	Method string          `json:"method"`
	Params []any           `json:"params"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *jsonrpc.Error  `json:"error,omitempty"`
}

// volatile are the members of replies that depend on more than the directory.
var volatile = []string{"size_on_disk", "disk_size", "time_remaining", "warnings", "usage", "initialblockdownload", "lastprocessedblock"}

// dirsFolder holds the recorded directories.
const dirsFolder = "testdata/datadirs"

// Directories of earlier revisions are opened with nothing lost: all that was
// answered from them then is answered now, and they are written on.
func TestRecordedDirectories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(dirsFolder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded directories: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRecordedDir(t, file)
		})
	}
}

func testRecordedDir(t *testing.T, file string) {
	t.Helper()
	want := readRecorded(t, file)
	if !slices.Contains(want.Args, "-dialect=qbit") {
		want.Args = append(want.Args, core30) // as all revisions spoke then
	}
	dir := t.TempDir()
	unpack(t, strings.TrimSuffix(file, ".json")+".tar.gz", dir)
	for _, round := range []string{"opened", "opened again"} {
		d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Args: want.Args})
		waitReady(t, d)
		for _, call := range want.Calls {
			got := record(t, d, call)
			if !sameJSON(t, got.Result, call.Result) || !reflect.DeepEqual(got.Error, call.Error) {
				t.Errorf(
					"%s: %s %s %v:\ngot  %s %v\nwant %s %v", round, call.Path, call.Method, call.Params, got.Result,
					got.Error, call.Result, call.Error,
				)
			}
		}
		if log := d.Log(); strings.Contains(log, "damaged") {
			t.Errorf("%s: the log speaks of damage:\n%s", round, log)
		}
		d.Stop()
	}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Args: want.Args})
	waitReady(t, d)
	var mined []string
	var height int32
	d.Get(&mined, "generatetodescriptor", 3, want.Mine)
	d.Get(&height, "getblockcount")
	d.WaitTip(mined[2], height, strings.Contains(strings.Join(want.Args, " "), "-blockfilterindex"))
	d.Stop()
}

func readRecorded(t *testing.T, path string) (d recordedDir) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	for err = lines.Decode(&d); err == nil && lines.More(); {
		var call recordedCall
		err = lines.Decode(&call)
		d.Calls = append(d.Calls, call)
	}
	if err != nil || len(d.Calls) == 0 {
		t.Fatalf("%s: %d calls, %v", path, len(d.Calls), err)
	}
	return d
}

// waitReady waits until the indexes have caught up and the pool is loaded.
func waitReady(t *testing.T, d *e2e.Daemon) {
	t.Helper()
	e2e.Eventually(t, time.Minute, "indexes and pool are loaded", func() bool {
		var indexes map[string]struct {
			Synced bool `json:"synced"`
		}
		var pool struct {
			Loaded bool `json:"loaded"`
		}
		d.Get(&indexes, "getindexinfo")
		d.Get(&pool, "getmempoolinfo")
		for _, index := range indexes {
			if !index.Synced {
				return false
			}
		}
		return pool.Loaded
	})
}

// record makes a call and keeps its reply.
func record(t *testing.T, d *e2e.Daemon, call recordedCall) recordedCall {
	t.Helper()
	body, err := jsonrpc.Encode(call.Method, call.Params...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Post(t.Context(), call.Path, body)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  *jsonrpc.Error  `json:"error"`
	}
	if err := json.Unmarshal([]byte(got.Body), &reply); err != nil {
		t.Fatalf("%s: %q: %v", call.Method, got.Body, err)
	}
	call.Result, call.Error = nil, reply.Error
	if reply.Error == nil {
		call.Result = steady(t, call.Method, reply.Result)
	}
	return call
}

// steady is a result without its volatile members, and in an order of its own
// where it has none.
func steady(t *testing.T, method string, text json.RawMessage) json.RawMessage {
	t.Helper()
	result := prune(decode(t, text))
	if names, ok := result.([]any); ok && (method == "listwallets" || method == "getrawmempool") {
		slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	clean, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return clean
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range volatile {
			delete(v, name)
		}
		for name := range v {
			v[name] = prune(v[name])
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

func decode(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// sameJSON compares replies. Members that are new in got are welcome.
func sameJSON(t *testing.T, got, want json.RawMessage) bool {
	t.Helper()
	return covers(decode(t, got), decode(t, want))
}

// keyValidation is how far the keys of a wallet have been looked at, which goes on
// after it was loaded.
const keyValidation = "pqc_key_validation"

// inOrder returns a member of a reply, the ids of transactions that an address was paid by in
// their order: as in Core they come in any.
func inOrder(name string, value any) any {
	list, isList := value.([]any)
	if name != "txids" || !isList {
		return value
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}

func covers(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name := range want {
			ok = ok && (name == keyValidation || covers(inOrder(name, object[name]), inOrder(name, want[name])))
		}
		return ok
	case []any:
		array, ok := got.([]any)
		ok = ok && len(array) == len(want)
		for i := range want {
			ok = ok && covers(array[i], want[i])
		}
		return ok
	}
	return reflect.DeepEqual(got, want)
}

// unpack unpacks an archive of a directory. Zeros in a file become a hole,
// since files are allocated larger than their contents.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(packed); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = unpackFile(files, header, filepath.Join(dir, filepath.FromSlash(header.Name)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func unpackFile(files *tar.Reader, header *tar.Header, path string) error {
	if header.Typeflag == tar.TypeDir {
		return os.MkdirAll(path, 0o700)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, header.FileInfo().Mode().Perm())
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(header.Size); err != nil {
		return err
	}
	page, zeros := make([]byte, 4096), make([]byte, 4096)
	for at := int64(0); at < header.Size; at += int64(len(page)) {
		n, err := io.ReadFull(files, page)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if bytes.Equal(page[:n], zeros[:n]) {
			continue
		}
		if _, err := file.WriteAt(page[:n], at); err != nil {
			return err
		}
	}
	return file.Close()
}
