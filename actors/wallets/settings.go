package wallets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/atomicfile"
)

// settings is the file settings.json, in which the program keeps which wallets
// to load at start. What else is in it stays. It is safe for concurrent use.
type settings struct {
	path string
	mu   sync.Mutex

	// unnamed: the wallet without a name was loaded because the file names none. As
	// in Core it is in the list when that is written for another one.
	unnamed bool
}

// LoadUnnamed notes that the wallet without a name is loaded.
func (s *settings) LoadUnnamed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unnamed = true
}

// The members of the file that are ours.
const (
	warningMember = "_warning_"
	walletMember  = "wallet"
	warningText   = "The program keeps this file itself. What you change here while it runs may be ignored or lost."
)

// errNoSettings reports that nothing is kept for the next start (-nosettings).
var errNoSettings = errors.New("there is no settings file")

// maxSettings is the longest file that is read, in bytes.
const maxSettings = 16 << 20

// member is a member of the file's object, whose order is kept.
type member struct {
	name  string
	value json.RawMessage
}

// Wallets returns the names of the wallets to load at start.
func (s *settings) Wallets() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	members, err := s.read()
	if err != nil {
		return nil, err
	}
	return walletsOf(members)
}

// Set enters a wallet into the list, or takes it out.
func (s *settings) Set(name string, load bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	members, err := s.read()
	if err != nil {
		return err
	}
	names, err := walletsOf(members)
	if err != nil {
		return err
	}
	if s.unnamed && names == nil {
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
	return s.write(withMember(members, member{walletMember, value}))
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
func (s *settings) read() ([]member, error) {
	if s.path == "" {
		return nil, nil
	}
	content, err := vfs.ReadFile(vfs.OS, s.path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(content) { // the decoder would change it without a word
		return nil, fmt.Errorf("settings: %s is not UTF-8", s.path)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("settings: %s is not an object", s.path)
	}
	var members []member
	for decoder.More() {
		var m member
		name, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		m.name, _ = name.(string)
		if err := decoder.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		members = append(members, m)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return members, nil
}

// write replaces the file. The warning comes first.
func (s *settings) write(members []member) error {
	if s.path == "" {
		return errNoSettings
	}
	warning, err := encode(warningText)
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(m member) bool { return m.name == warningMember })
	members = slices.Insert(members, 0, member{warningMember, warning})
	text := []byte("{")
	for i, m := range members {
		name, err := encode(m.name)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), m.value...)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append(text, '}'), "", "    "); err != nil {
		return err
	}
	out.WriteByte('\n')
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(vfs.OS, s.path, out.Bytes(), 0o600)
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
