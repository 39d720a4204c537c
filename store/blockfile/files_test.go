package blockfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

func TestKeyXOR(t *testing.T) {
	key := Key{1, 2, 3, 4, 5, 6, 7, 8}
	for offset := range int64(20) {
		b := make([]byte, 1000)
		key.XOR(b, offset)
		for i, got := range b {
			if want := key[(int64(i)+offset)%8]; got != want {
				t.Fatalf("offset %d: byte %d is %d, want %d", offset, i, got, want)
			}
		}
	}
}

func TestInitKey(t *testing.T) {
	stored := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, tc := range []struct {
		name      string
		files     map[string][]byte
		obfuscate bool
		want      func(Key) bool
		err       error
	}{
		{"fresh", nil, true, func(k Key) bool { return k != Key{} }, nil},
		{"fresh, off", nil, false, func(k Key) bool { return k == Key{} }, nil},
		{"plain files", map[string][]byte{"blk00000.dat": nil}, true, func(k Key) bool { return k == Key{} }, nil},
		{"stored", map[string][]byte{"xor.dat": stored}, true, func(k Key) bool { return k == Key(stored) }, nil},
		{"stored zeros", map[string][]byte{
			"xor.dat": make([]byte, 8),
		}, true, func(k Key) bool { return k == Key{} }, nil},
		{"stored, off", map[string][]byte{"xor.dat": stored}, false, nil, ErrKeyStored},
		{"cut", map[string][]byte{"xor.dat": stored[:7]}, true, nil, ErrCorrupt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			key, err := InitKey(vfs.OS, dir, tc.obfuscate)
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if err != nil {
				return
			}
			if !tc.want(key) {
				t.Fatalf("key %x", key)
			}
			if again, err := LoadKey(vfs.OS, dir); err != nil || again != key {
				t.Fatalf("key %x is loaded as %x, %v", key, again, err)
			}
		})
	}
	if key, err := LoadKey(vfs.OS, t.TempDir()); err != nil || key != (Key{}) {
		t.Fatalf("key of an empty directory: %x, %v", key, err)
	}
}

func TestNext(t *testing.T) {
	for _, tc := range []struct {
		name              string
		number            int
		end, need, limit  int64
		wantFile, wantOff int64
	}{
		{"empty", 0, 0, 100, 1000, 0, 0},
		{"behind", 3, 100, 100, 1000, 3, 100},
		{"just below the limit", 3, 899, 100, 1000, 3, 899},
		{"reaches the limit", 3, 900, 100, 1000, 4, 0},
		{"larger than a file", 3, 10, 5000, 1000, 4, 0},
		{"larger than a file, empty", 3, 0, 5000, 1000, 3, 0},
	} {
		file, off := Next(tc.number, tc.end, tc.need, tc.limit)
		if int64(file) != tc.wantFile || off != tc.wantOff {
			t.Errorf("%s: file %d byte %d, want %d, %d", tc.name, file, off, tc.wantFile, tc.wantOff)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	key := Key{9, 8, 7, 6, 5, 4, 3, 2}
	files := NewFiles(vfs.OS, dir, Undo, testMagic, key)
	end, err := files.WriteRecord(7, 11, []byte("payload"), []byte("sum"))
	if err != nil || end != 11+HeaderSize+10 {
		t.Fatalf("record ends at %d, %v", end, err)
	}
	if _, err := files.WriteRecord(8, 0, []byte("next"), nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(files.Sync(), files.Sync(), files.Close(), files.Close()); err != nil {
		t.Fatal(err)
	}
	onDisk, err := os.ReadFile(filepath.Join(dir, "rev00007.dat"))
	if err != nil {
		t.Fatal(err)
	}
	plain := bytes.Clone(onDisk[11:])
	key.XOR(plain, 11)
	if want := append(append(testMagic[:], 7, 0, 0, 0), "payloadsum"...); !bytes.Equal(plain, want) {
		t.Fatalf("record is %q, want %q", plain, want)
	}
	if got, err := files.ReadRecord(7, 11, 7, 3); err != nil || string(got) != "payloadsum" {
		t.Fatalf("record reads as %q, %v", got, err)
	}
	if got, err := files.Read(7, 11+HeaderSize+3, 4); err != nil || string(got) != "load" {
		t.Fatalf("part reads as %q, %v", got, err)
	}
	for name, read := range map[string]func() ([]byte, error){
		"no magic":     func() ([]byte, error) { return files.ReadRecord(7, 10, 7, 3) },
		"wrong length": func() ([]byte, error) { return files.ReadRecord(7, 11, 6, 3) },
		"beyond":       func() ([]byte, error) { return files.Read(7, 20, 100) },
		"no file":      func() ([]byte, error) { return files.Read(6, 0, 1) },
	} {
		if _, err := read(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for number, want := range map[int]int64{6: 0, 7: end} {
		if size, err := files.Size(number); err != nil || size != want {
			t.Errorf("file %d has %d bytes, %v, want %d", number, size, err, want)
		}
	}
}

// TestFilesConcurrent reads records while others are written.
func TestFilesConcurrent(t *testing.T) {
	files := NewFiles(vfs.OS, t.TempDir(), Blocks, testMagic, Key{1})
	defer files.Close()
	written := make(chan int64, 100)
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for offset := range written {
				if got, err := files.ReadRecord(0, offset, 50, 0); err != nil || got[0] != byte(offset) {
					t.Errorf("record at %d: %q, %v", offset, got, err)
				}
			}
		})
	}
	end := int64(0)
	for range cap(written) {
		next, err := files.WriteRecord(0, end, testBlock(byte(end), 50), nil)
		if err != nil {
			t.Fatal(err)
		}
		written <- end
		end = next
	}
	close(written)
	readers.Wait()
}

// A file that is created is there, and empty; one with records keeps them.
func TestFilesCreate(t *testing.T) {
	dir := t.TempDir()
	files := NewFiles(vfs.OS, dir, Undo, testMagic, Key{1})
	defer files.Close()
	end, err := files.WriteRecord(0, 0, []byte("payload"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(files.Create(1), files.Create(0), files.Sync()); err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]int64{0: end, 1: 0} {
		info, err := os.Stat(Undo.Path(dir, number))
		if err != nil || info.Size() != want {
			t.Errorf("file %d: %v, %v", number, info, err)
		}
	}
}
