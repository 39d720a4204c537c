package chain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

func write(tb testing.TB, path string, content []byte) string {
	tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Files come in whatever lies in them, and however.
func TestImport(t *testing.T) {
	blocks := enginetest.Blocks(t, enginetest.Chain)[:60]
	reversed := slices.Clone(blocks)
	slices.Reverse(reversed)
	damaged := bytes.Clone(blocks[30])
	damaged[100] ^= 1
	garbage := bytes.Repeat([]byte{0xfa, 0xbf, 0xb5, 0xda, 0xff}, 500) // magic and no length that could be

	for _, test := range []struct {
		name  string
		files func(dir string) []string
		want  int32 // height
	}{
		{"in order", func(string) []string { return []string{blockFile(t, 0, blocks...)} }, 59},
		{"children before parents", func(string) []string { return []string{blockFile(t, 0, reversed...)} }, 59},
		{"twice", func(string) []string {
			return []string{blockFile(t, 0, blocks...), blockFile(t, 0, blocks...)}
		}, 59},
		{"in two files", func(string) []string {
			return []string{blockFile(t, 0, blocks[:35]...), blockFile(t, 0, blocks[35:]...)}
		}, 59},
		{"in two files, the later first", func(string) []string {
			return []string{blockFile(t, 0, blocks[35:]...), blockFile(t, 0, blocks[:35]...)}
		}, 34},
		{"zeros between", func(string) []string { return []string{blockFile(t, 3000, blocks...)} }, 59},
		{"obfuscated", func(dir string) []string {
			key := blockfile.Key{1, 2, 3, 4, 5, 6, 7, 8}
			content := records(t, 10, blocks...)
			key.XOR(content, 0)
			write(t, filepath.Join(dir, "xor.dat"), key[:])
			return []string{write(t, filepath.Join(dir, "blk00000.dat"), content)}
		}, 59},
		{"obfuscated, children before parents", func(dir string) []string {
			key := blockfile.Key{8, 7, 6, 5, 4, 3, 2, 1}
			content := records(t, 3, reversed...)
			key.XOR(content, 0)
			write(t, filepath.Join(dir, "xor.dat"), key[:])
			return []string{write(t, filepath.Join(dir, "blk00000.dat"), content)}
		}, 59},
		{"a bad key", func(dir string) []string {
			write(t, filepath.Join(dir, "xor.dat"), []byte("short"))
			return []string{
				write(t, filepath.Join(dir, "blk00000.dat"), records(t, 0, blocks...)), blockFile(t, 0, blocks[:10]...),
			}
		}, 9},
		{"a missing file", func(dir string) []string {
			return []string{filepath.Join(dir, "nothing.dat"), blockFile(t, 0, blocks...)}
		}, 59},
		{"a folder", func(dir string) []string { return []string{dir, blockFile(t, 0, blocks...)} }, 59},
		{"an empty file", func(dir string) []string {
			return []string{write(t, filepath.Join(dir, "empty.dat"), nil), blockFile(t, 0, blocks...)}
		}, 59},
		{"garbage", func(dir string) []string {
			content := slices.Concat(
				garbage, records(t, 0, blocks[:25]...), garbage, records(t, 0, blocks[25:]...), garbage,
			)
			return []string{write(t, filepath.Join(dir, "blk00000.dat"), content)}
		}, 59},
		{"truncated", func(dir string) []string {
			content := records(t, 0, blocks...)
			return []string{write(t, filepath.Join(dir, "blk00000.dat"), content[:len(content)-1])}
		}, 58},
		{"a damaged block", func(string) []string {
			return []string{blockFile(t, 0, slices.Concat(blocks[:30], [][]byte{damaged}, blocks[31:])...)}
		}, 29},
		{"none", func(string) []string { return nil }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := spawn(t, test.files(t.TempDir())...)
			do(t, f, messages.WaitImported{})
			if tip := do(t, f, messages.GetTip{}); tip.Height != test.want {
				t.Errorf("height %d, want %d", tip.Height, test.want)
			}
			status := do(t, f, messages.GetImportStatus{})
			if status.Running || status.Read != status.Total || status.Blocks != int64(test.want) {
				t.Errorf("status %+v", status)
			}
		})
	}
}

// The branch of the recorded chain takes over when its file is read.
func TestImportReorganises(t *testing.T) {
	chain := enginetest.Blocks(t, enginetest.Chain)
	branch := enginetest.Blocks(t, enginetest.Branch)
	f := spawn(t, blockFile(t, 0, chain...), blockFile(t, 0, branch...))
	do(t, f, messages.WaitImported{})
	tip := do(t, f, messages.GetTip{})
	const want = "442ad4a94627d848dd4612c1c94bca4e2a55e05790c990046a71487b33a6773b"
	if tip.Height != 361 || tip.Hash.String() != want {
		t.Errorf("at %v", tip)
	}
}

// Requests are served between two pieces of an import, and the import says how
// far it is.
func TestRequestsWhileImporting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		blocks := enginetest.Blocks(t, enginetest.Chain)[:40]
		turn, goOn := make(chan struct{}), make(chan struct{})
		f := spawnIn(t, t.TempDir(), func(method string) error {
			if method == "Accept" {
				turn <- struct{}{}
				<-goOn
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		}, blockFile(t, 100, blocks...))
		var last messages.ImportStatus
		mined := make(chan error, 1)
		for n := range blocks {
			<-turn
			switch n {
			case len(blocks) / 2:
				go func() {
					mined <- request(messages.GenerateBlock{Script: trueScript, Tries: many})(
						t.Context(), f.Ref,
					)
				}()
			case len(blocks)/2 + 5:
				if err := <-mined; err != nil {
					t.Error(err)
				}
			}
			synctest.Wait()
			status := do(t, f, messages.GetImportStatus{})
			if !status.Running || status.File == "" || status.Read < last.Read || status.Read > status.Total ||
				status.Blocks > int64(n) {
				t.Fatalf("before block %d: %+v", n, status)
			}
			last = status
			goOn <- struct{}{}
		}
		do(t, f, messages.WaitImported{})
		if status := do(t, f, messages.GetImportStatus{}); status.Running || status.Blocks != int64(len(blocks)-1) ||
			status.Read != status.Total {
			t.Errorf("in the end: %+v", status)
		}
	})
}
