// Package settings keeps settings.json, Bitcoin Core's file of options that change at
// run time. Ours is one of them: which wallets are loaded at start. Whatever else is in
// the file stays, in its order. The file is replaced as a whole, in one step.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/atomicfile"
)

// A File is the settings of one node; make one with [New]. It is safe for concurrent
// use.
type File struct {
	fs   vfs.FS
	path string
	mu   sync.Mutex

	// unnamed: the wallet without a name was loaded because the file names none. As
	// in Core it is in the list when that is written for another one.
	unnamed bool
}

// New returns the settings at path, which need not be there yet. Without a path there
// are none (-nosettings). fs nil stands for the operating system's.
func New(fs vfs.FS, path string) *File {
	if fs == nil {
		fs = vfs.OS
	}
	return &File{fs: fs, path: path}
}

// LoadUnnamed notes that the wallet without a name is loaded.
func (f *File) LoadUnnamed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unnamed = true
}

// The members of the file that are ours.
const (
	warningMember = "_warning_"
	walletMember  = "wallet"
	warningText   = "The program keeps this file itself. What you change here while it runs may be ignored or lost."
)

// ErrNone reports that nothing is kept for the next start (-nosettings).
var ErrNone = errors.New("there is no settings file")

// maxFile is the longest file that is read, in bytes.
const maxFile = 16 << 20

// member is a member of the file's object, whose order is kept.
type member struct {
	name  string
	value json.RawMessage
}

// Wallets returns the names of the wallets to load at start.
//
// Errors: of a file that cannot be read, or is no object of JSON.
func (f *File) Wallets() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	members, err := f.read()
	if err != nil {
		return nil, err
	}
	return walletsOf(members)
}

// SetWallet enters a wallet into the list of those to load at start, or takes it out.
// After nil that is on the disk.
//
// Errors: [ErrNone], those of Wallets, and those of the file system.
func (f *File) SetWallet(name string, load bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	members, err := f.read()
	if err != nil {
		return err
	}
	names, err := walletsOf(members)
	if err != nil {
		return err
	}
	if f.unnamed && names == nil {
		names = []string{""}
	}
	if slices.Contains(names, name) == load {
		return nil
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("settings: name of wallet %q is not UTF-8", name)
	}
	if load {
		names = append(names, name)
	} else {
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	value, err := encode(names)
	if err != nil {
		return err
	}
	return f.write(withMember(members, member{walletMember, value}))
}

func walletsOf(members []member) ([]string, error) {
	at := slices.IndexFunc(members, func(m member) bool { return m.name == walletMember })
	if at < 0 {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal(members[at].value, &names); err == nil {
		return names, nil
	}
	var name string
	if err := json.Unmarshal(members[at].value, &name); err != nil {
		return nil, fmt.Errorf("settings: wallet: %w", err)
	}
	return []string{name}, nil
}

func withMember(members []member, m member) []member {
	at := slices.IndexFunc(members, func(have member) bool { return have.name == m.name })
	if at < 0 {
		return append(members, m)
	}
	members[at] = m
	return members
}

// read returns the members of the file, none if it is not there.
func (f *File) read() ([]member, error) {
	if f.path == "" {
		return nil, nil
	}
	content, err := vfs.ReadFile(f.fs, f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	members, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("settings: %s: %w", f.path, err)
	}
	return members, nil
}

// write replaces the file. The warning comes first.
func (f *File) write(members []member) error {
	if f.path == "" {
		return ErrNone
	}
	text, err := format(members)
	if err != nil {
		return err
	}
	if err := vfs.MakeDir(f.fs, filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.fs, f.path, text, 0o600)
}

// Why a text is no file of settings.
var (
	errEncoding = errors.New("not UTF-8")
	errObject   = errors.New("not an object")
)

// parse returns the members of an object.
func parse(text []byte) ([]member, error) {
	if !utf8.Valid(text) { // the decoder would change it without a word
		return nil, errEncoding
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errObject
	}
	var members []member
	for decoder.More() {
		var m member
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		m.name, _ = name.(string)
		if err := decoder.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	_, err := decoder.Token()
	return members, err
}

// format returns an object with the members, behind the warning.
func format(members []member) ([]byte, error) {
	warning, err := encode(warningText)
	if err != nil {
		return nil, err
	}
	text := append([]byte(`{"`+warningMember+`":`), warning...)
	for _, m := range members {
		if m.name == warningMember {
			continue
		}
		name, err := encode(m.name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(append(text, ','), name...), ':'), m.value...)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append(text, '}'), "", "    "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// encode is json.Marshal that leaves <, > and & as they are.
func encode(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
