package chaindb

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/database"
	"pgregory.net/rapid"
)

// model is what the metadata should hold: values by the path of their bucket,
// in which every name ends in a slash, followed by their key. A bucket is its
// path with no value.
type model map[string]string

// isBucket tells a bucket's path from that of a value.
func isBucket(path string) bool { return strings.HasSuffix(path, "/") }

// entries lists what is directly in a bucket, sorted, buckets with a slash.
func (m model) entries(bucket string) []string {
	var names []string
	for path := range m {
		name, ok := strings.CutPrefix(path, bucket)
		if ok && name != "" && !strings.Contains(strings.TrimSuffix(name, "/"), "/") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
	})
	return names
}

// bucketAt follows a path.
func bucketAt(tx database.Tx, path string) database.Bucket {
	b := tx.Metadata()
	for name := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if path != "" {
			b = b.Bucket([]byte(name))
		}
	}
	return b
}

// checkModel compares every bucket, by Get and by cursors in both directions.
func checkModel(t *rapid.T, tx database.Tx, m model) {
	buckets := []string{""}
	for path := range m {
		if isBucket(path) {
			buckets = append(buckets, path)
		}
	}
	for _, path := range buckets {
		b, want := bucketAt(tx, path), m.entries(path)
		c := b.Cursor()
		var forward, backward []string
		for ok := c.First(); ok; ok = c.Next() {
			forward = append(forward, entryAt(b, c))
			checkValue(t, b, c, m[path+entryAt(b, c)])
		}
		for ok := c.Last(); ok; ok = c.Prev() {
			backward = append(backward, entryAt(b, c))
		}
		slices.Reverse(backward)
		if !slices.Equal(forward, want) || !slices.Equal(backward, want) {
			t.Fatalf("bucket %q has %q forward and %q backward, want %q", path, forward, backward, want)
		}
		for _, key := range keys {
			if slices.Contains(want, key) != (b.Get([]byte(key)) != nil) {
				t.Fatalf("Get of %q in %q does not agree with the cursor", key, path)
			}
		}
	}
}

// entryAt names what a cursor is at as the model does.
func entryAt(b database.Bucket, c database.Cursor) string {
	if b.Bucket(c.Key()) != nil {
		return string(c.Key()) + "/"
	}
	return string(c.Key())
}

func checkValue(t *rapid.T, b database.Bucket, c database.Cursor, want string) {
	if b.Bucket(c.Key()) != nil {
		if c.Value() != nil {
			t.Fatalf("a bucket has the value %q", c.Value())
		}
		return
	}
	if got := b.Get(c.Key()); got == nil || string(got) != want || !bytes.Equal(c.Value(), got) {
		t.Fatalf("%q is %q by Get and %q by cursor, want %q", c.Key(), got, c.Value(), want)
	}
}

// walk moves a cursor at random beside the sorted entries.
func walk(t *rapid.T, b database.Bucket, entries []string) {
	c := b.Cursor()
	at, valid := 0, false
	for range rapid.IntRange(0, 8).Draw(t, "moves") {
		var ok bool
		switch rapid.SampledFrom([]string{"first", "last", "seek", "next", "next", "prev", "prev"}).Draw(t, "move") {
		case "first":
			ok, at = c.First(), 0
		case "last":
			ok, at = c.Last(), len(entries)-1
		case "seek":
			key := rapid.SampledFrom(keys).Draw(t, "seek")
			ok = c.Seek([]byte(key))
			at = slices.IndexFunc(entries, func(e string) bool { return strings.TrimSuffix(e, "/") >= key })
		case "next":
			if ok = c.Next(); !valid {
				at = -1
			} else {
				at++
			}
		case "prev":
			if ok = c.Prev(); !valid {
				at = -1
			} else {
				at--
			}
		}
		valid = at >= 0 && at < len(entries)
		if ok != valid || (ok && entryAt(b, c) != entries[at]) {
			t.Fatalf("cursor at %q (%v), want %d of %q", c.Key(), ok, at, entries)
		}
	}
}

// keys are few, so that writes meet each other.
var keys = []string{"\x00", "a", "aa", "b", "c", "\xff"}

// change does one random thing in a random bucket, and the same to the model.
func change(t *rapid.T, tx database.Tx, m model) {
	buckets := []string{""}
	for path := range m {
		if isBucket(path) && strings.Count(path, "/") < 3 {
			buckets = append(buckets, path)
		}
	}
	slices.Sort(buckets)
	path := rapid.SampledFrom(buckets).Draw(t, "bucket")
	key := rapid.SampledFrom(keys).Draw(t, "key")
	b := bucketAt(tx, path)
	_, isKey := m[path+key]
	_, isDir := m[path+key+"/"]
	switch rapid.SampledFrom([]string{"put", "put", "delete", "cursor delete", "create", "drop", "walk"}).Draw(t, "op") {
	case "put":
		value := rapid.SampledFrom([]string{"", "1", "22"}).Draw(t, "value")
		if err := b.Put([]byte(key), []byte(value)); (err != nil) != isDir {
			t.Fatalf("Put: %v", err)
		} else if err == nil {
			m[path+key] = value
		}
	case "delete":
		if err := b.Delete([]byte(key)); (err != nil) != isDir {
			t.Fatalf("Delete: %v", err)
		}
		delete(m, path+key)
	case "cursor delete":
		deleteAll(t, b, path, m)
	case "create":
		if _, err := b.CreateBucket([]byte(key)); (err != nil) != (isKey || isDir) {
			t.Fatalf("CreateBucket: %v", err)
		} else if err == nil {
			m[path+key+"/"] = ""
		}
	case "drop":
		if err := b.DeleteBucket([]byte(key)); (err == nil) != isDir {
			t.Fatalf("DeleteBucket: %v", err)
		}
		maps.DeleteFunc(m, func(p, _ string) bool { return strings.HasPrefix(p, path+key+"/") })
	case "walk":
		walk(t, b, m.entries(path))
	}
}

// deleteAll deletes some of a bucket's keys while a cursor passes over them.
func deleteAll(t *rapid.T, b database.Bucket, path string, m model) {
	c := b.Cursor()
	for ok := c.First(); ok; ok = c.Next() {
		if b.Bucket(c.Key()) == nil && rapid.Bool().Draw(t, "deleted") {
			if err := c.Delete(); err != nil {
				t.Fatalf("Cursor.Delete: %v", err)
			}
			delete(m, path+string(c.Key()))
		}
	}
}

// TestModel runs random transactions beside a map: commits, rollbacks, readers
// of older states, and reopening.
func TestModel(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	db := open(t, o)
	rapid.Check(t, func(rt *rapid.T) {
		if err := db.BTCD().Update(empty); err != nil {
			rt.Fatal(err)
		}
		state := model{}
		for range rapid.IntRange(1, 4).Draw(rt, "transactions") {
			state = besideReader(rt, db.BTCD(), state)
			if rapid.IntRange(0, 4).Draw(rt, "reopen") == 0 {
				db = reopen(t, db, nil)
			}
			if err := db.BTCD().View(func(tx database.Tx) error { checkModel(rt, tx, state); return nil }); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// empty deletes all metadata.
func empty(tx database.Tx) error {
	root := tx.Metadata()
	var err error
	c := root.Cursor()
	for ok := c.First(); ok; ok = c.Next() {
		if root.Bucket(c.Key()) == nil {
			err = errors.Join(err, c.Delete())
		}
	}
	var names [][]byte
	err = errors.Join(err, root.ForEachBucket(func(name []byte) error { names = append(names, name); return nil }))
	for _, name := range names {
		err = errors.Join(err, root.DeleteBucket(name))
	}
	return err
}

// besideReader runs a transaction while a reader of the state before it is open.
func besideReader(t *rapid.T, db database.DB, before model) model {
	older, err := db.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Rollback() // Close waits for it, also after a failure
	after := transact(t, db, before)
	checkModel(t, older, before)
	return after
}

// transact runs one transaction and returns the state after it.
func transact(t *rapid.T, db database.DB, before model) model {
	tx, err := db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	after := maps.Clone(before)
	for range rapid.IntRange(0, 12).Draw(t, "changes") {
		change(t, tx, after)
	}
	checkModel(t, tx, after)
	if !rapid.Bool().Draw(t, "commit") {
		return before
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return after
}
