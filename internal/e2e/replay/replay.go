// Package replay plays recorded JSON-RPC conversations on a node and tells
// where its answers differ.
//
// # Files
//
// A set is a folder. Its manifest.json ([Manifest]) names groups of files and
// the state of the node that each group wants. A file holds one [Case] a line,
// as JSON, and may be compressed with gzip. Most cases are one call; an action
// is a step that is not ([Player.Play] lists them).
//
// Requests and expected answers are kept as text and may hold placeholders.
// The placeholders {{BACKUPS}} and {{SCRATCH}} are folders, {{repeat:N:TEXT}}
// is N times TEXT, and {{ANY}} in an expected string stands for any text.
//
// # Comparison
//
// HTTP status and whole body are compared. This includes kinds, strings, the
// order of members, and the text of numbers, so that 0.1 is not 0.10000000.
// [Rules] say where a case asks for less.
package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Manifest lists the groups of a set in the order they are to be played.
type Manifest struct {
	Groups []Group `json:"groups"`
}

// A Group is a list of files and the state of the node they want.
type Group struct {
	Name        string   `json:"name"`
	Continues   string   `json:"continues"`   // the group whose node is used on
	Alternative bool     `json:"alternative"` // other state, same answers
	Node        State    `json:"node"`
	Files       []string `json:"files"`
}

// A State is what a node is started with, and where that leads it.
type State struct {
	Chain  string   `json:"chain"`
	Args   []string `json:"args"`
	Blocks []string `json:"blocks"` // block files, relative to the set
	Tip    string   `json:"tip"`    // block hash; empty: no matter
	Height int32    `json:"height"`
	Index  bool     `json:"index"` // the filter index has to reach the tip, too
	P2P    bool     `json:"p2p"`   // peers can connect
}

// A Case is one step of a conversation: a call and its answer, or an action.
type Case struct {
	Name     string   `json:"name"`
	Wallet   *string  `json:"wallet"` // the call goes to its path
	Request  string   `json:"request"`
	Status   int      `json:"http_status"`
	Response *string  `json:"response"` // nil: an empty body
	Compare  Rules    `json:"compare"`
	Setup    bool     `json:"setup"` // later cases need it
	Tags     []string `json:"tags"`
	Note     string   `json:"note"`

	Action string `json:"action"`
	Fatal  bool   `json:"fatal"` // without it the rest of the file is pointless

	// Of the actions wait-tip and load-blocks.
	Tip    string `json:"tip"`
	Height int32  `json:"height"`
	Index  bool   `json:"index"`
	File   string `json:"file"` // of the blocks

	// Of the actions of peers, by name.
	Peers  []string `json:"peers"`
	Magic  string   `json:"magic"` // of the network, in hex
	Closed []string `json:"closed"`
	Open   []string `json:"open"`

	// Of the action scan-race.
	StartParams []json.RawMessage `json:"start_params"`
	StopHeight  int32             `json:"stop_height"`
	Rounds      int               `json:"rounds"`
	Seconds     int               `json:"seconds"`
}

// HasTag reports whether the case carries one of the tags.
func (c *Case) HasTag(tags ...string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(c.Tags, tag) })
}

// ReadManifest reads the manifest of the set in folder.
func ReadManifest(folder string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	return m, json.Unmarshal(text, m)
}

// maxCase bounds the bytes of a line.
const maxCase = 64 << 20

// Cases reads the cases of a file one by one. It ends after the first error,
// of which one is a case that asks for something this package does not know.
// Of some the answer is that of later versions of Core: see [Later].
func Cases(path string) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		for c, err := range recordedCases(path) {
			if err == nil {
				c.correct()
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// recordedCases reads the cases as they were recorded.
func recordedCases(path string) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		text, err := ReadFile(path)
		if err != nil {
			yield(nil, err)
			return
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, maxCase)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			c, err := decodeCase(lines.Bytes())
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", path, n, err))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("%s: %w", path, err))
		}
	}
}

func decodeCase(line []byte) (*Case, error) {
	c := new(Case)
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, err
	}
	return c, c.Compare.compile()
}

// ReadFile reads a file, and unpacks it when its name ends in .gz.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return io.ReadAll(r)
}

// ErrBlockFile reports a block file that ends inside a block.
var ErrBlockFile = errors.New("block file is cut")

// ReadBlocks reads the raw blocks of a file in the form of Core's blk files:
// magic, little-endian length, block.
func ReadBlocks(path string) ([][]byte, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	var blocks [][]byte
	for len(text) > 0 {
		const head = 8
		if len(text) < head {
			return nil, fmt.Errorf("%s: %w", path, ErrBlockFile)
		}
		size := int64(binary.LittleEndian.Uint32(text[4:]))
		if size > int64(len(text)-head) {
			return nil, fmt.Errorf("%s: %w", path, ErrBlockFile)
		}
		blocks = append(blocks, text[head:head+size])
		text = text[head+size:]
	}
	return blocks, nil
}
