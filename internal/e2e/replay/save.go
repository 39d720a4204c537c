package replay

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"
)

// save writes what was asked, unless the test has failed.
func (t *Tape) save(tb testing.TB) {
	tb.Helper()
	if tb.Failed() || tb.Skipped() {
		return
	}
	described, err := describe()
	if err != nil {
		tb.Fatal(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for method := range t.contents.Methods {
		t.contents.Methods[method] = described[method]
	}
	for i := range t.contents.Exchanges {
		e := &t.contents.Exchanges[i]
		if e.Text, e.Bytes = string(e.Body), nil; !utf8.Valid(e.Body) {
			e.Text, e.Bytes = "", e.Body
		}
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		err = errors.Join(json.NewEncoder(z).Encode(&t.contents), z.Close(), os.MkdirAll(folder, 0o755))
	}
	if err == nil {
		err = os.WriteFile(t.path, packed.Bytes(), 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("%s: %d requests, %d bytes", t.path, len(t.contents.Exchanges), packed.Len())
}

// report fails a test that has not asked what was recorded.
func (t *Tape) report(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.missed) > 0 {
		tb.Errorf("%d requests are not in %s, first: %s%s", len(t.missed), t.path, t.missed[0], again(tb))
		return
	}
	if tb.Failed() || tb.Skipped() || t.Polled {
		return
	}
	for _, request := range slices.Sorted(maps.Keys(t.next)) {
		if left := len(t.next[request]); left > 0 {
			tb.Errorf("%d recorded requests of %s are not made any more: %s%s", left, t.path, request, again(tb))
			return
		}
	}
}

// parameters are those of each method of ours, as hashes.
type parameters map[string]string

// describe reads the description of the methods.
func describe() (parameters, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "openrpc.json"))
	if err != nil {
		return nil, err
	}
	var document struct {
		Methods []struct {
			Name   string `json:"name"`
			Params any    `json:"params"`
		} `json:"methods"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	hashes := parameters{}
	for _, m := range document.Methods {
		canonical, err := json.Marshal(withoutWords(m.Params))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(canonical)
		hashes[m.Name] = hex.EncodeToString(sum[:8])
	}
	return hashes, nil
}

// moduleRoot returns the folder of go.mod.
func moduleRoot() (string, error) {
	for at := "."; ; at = filepath.Join(at, "..") {
		whole, err := filepath.Abs(at)
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(filepath.Join(whole, "go.mod")); err == nil {
			return whole, nil
		}
		if filepath.Dir(whole) == whole {
			return "", errors.New("no go.mod in any folder above")
		}
	}
}

// withoutWords returns a description without what is said to people, and without parameters that the recorded Core does
// not have yet.
func withoutWords(v any) any {
	switch v := v.(type) {
	case map[string]any:
		rest := map[string]any{}
		for name, member := range v {
			if _, words := member.(string); !isLater(member) && (!words || name != "description" && name != "summary") {
				rest[name] = withoutWords(member)
			}
		}
		return rest
	case []any:
		rest := make([]any, 0, len(v))
		for _, member := range v {
			if !isLater(member) {
				rest = append(rest, withoutWords(member))
			}
		}
		return rest
	}
	return v
}

// isLater reports whether a parameter is newer than the recorded Core, by its description.
func isLater(v any) bool {
	param, _ := v.(map[string]any)
	return param["x-since"] != nil
}

// changed returns the methods, of those that were recorded, whose parameters are others now.
func (p parameters) changed(recorded map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if p[name] != recorded[name] {
			names = append(names, name)
		}
	}
	return names
}
