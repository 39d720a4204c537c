package options

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"unicode/utf8"
)

// warningMember is a member of a settings file that only speaks to its reader.
const warningMember = "_warning_"

// elsewhere are options that a settings file does not set: wallets are the affair of
// who keeps them, and commands are set where no program writes.
var elsewhere = []string{"wallet", "alertnotify", "blocknotify", "shutdownnotify", "startupnotify", "walletnotify"}

// SettingsFile returns the absolute path of the file of settings that change at run
// time; it is empty with -nosettings. The network must be selected.
func (s *Settings) SettingsFile() string {
	path := s.Path("settings", "settings.json")
	if path == "" {
		return ""
	}
	return s.BelowNetDir(path)
}

// ReadSettingsFile reads the file of settings that change at run time. Its values count
// more than those of the configuration files, and less than the command line. That it
// does not exist is no error. cause is the sentence about what may have damaged a file that is no JSON. Errors are of
// type [*Error].
func (s *Settings) ReadSettingsFile(files Files, cause string) error {
	path := s.SettingsFile()
	if path == "" {
		return nil
	}
	text, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return settingsError("%s. Please check permissions.", path)
	}
	members, err := readMembers(text, path, cause)
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := s.takeMember(m); err != nil {
			return err
		}
	}
	s.settingsRead = slices.DeleteFunc(members, func(m member) bool { return m.name == warningMember })
	return nil
}

func settingsError(format string, args ...any) error {
	return errorf("Settings file could not be read:\n- "+format, args...)
}

// member is a member of a settings file.
type member struct {
	name  string
	value json.RawMessage
}

// readMembers reads an object, whose names must differ.
func readMembers(text []byte, path, cause string) ([]member, error) {
	damaged := settingsError("Settings file %s does not contain valid JSON. %s, "+
		"and can be fixed by removing the file, which will reset settings to default values.", path, cause)
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, damaged
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			return nil, damaged
		}
		return nil, settingsError("Found non-object value %s in settings file %s", compact.String(), path)
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		m := member{}
		if err == nil {
			m.name, _ = name.(string)
			err = decoder.Decode(&m.value)
		}
		if err != nil {
			return nil, damaged
		}
		if slices.ContainsFunc(members, func(have member) bool { return have.name == m.name }) {
			return nil, settingsError("Found duplicate key %s in settings file %s", m.name, path)
		}
		members = append(members, m)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, damaged
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, damaged
	}
	return members, nil
}

// takeMember takes over the values of one member.
func (s *Settings) takeMember(m member) error {
	var list []json.RawMessage
	if m.value[0] != '[' {
		list = append(list, m.value)
	} else if err := json.Unmarshal(m.value, &list); err != nil {
		return settingsError("%s: %v", m.name, err)
	}
	switch {
	case m.name == warningMember:
		return nil
	case s.options[m.name] == nil:
		s.remark(Warning, "Ignoring unknown rw_settings value %s", m.name)
		return nil
	case m.name == "wallet":
		return checkWallets(list)
	case slices.Contains(elsewhere, m.name):
		s.remark(Warning, "Option -%s is not taken from the settings file.", m.name)
		return nil
	}
	values := span{}
	for _, raw := range list {
		v, err := settingOf(raw)
		if err != nil {
			return settingsError("%s: %v", m.name, err)
		}
		values = append(values, v)
	}
	if len(values) > 0 {
		s.settingsFile[m.name] = values
	}
	return nil
}

// checkWallets checks names of wallets to load.
func checkWallets(list []json.RawMessage) error {
	for _, raw := range list {
		if raw[0] != '"' {
			return errorf("Invalid value detected for '-wallet' or '-nowallet'. '-wallet' requires a string value, " +
				"while '-nowallet' accepts only '1' to disable all wallets")
		}
	}
	return nil
}

// settingOf reads the value of an option.
func settingOf(raw json.RawMessage) (v value, err error) {
	switch raw[0] {
	case 'f':
		return value{kind: negated}, nil
	case 'n':
		return value{kind: unset}, nil
	case 't':
		return value{text: "1"}, nil
	case '"':
		err := json.Unmarshal(raw, &v.text)
		return v, err
	case '{', '[':
		return v, errors.New("the value is no text, number or truth value")
	default:
		return value{text: string(raw)}, nil
	}
}

// HidesSettings reports whether the command line negates an option, so that the values of the settings file do not
// count even if others follow the negation.
func HidesSettings(s *Settings, name string) bool { return s.commandLine[name].dead() > 0 }

// LoadsWallets reports whether options or the settings file name a wallet that is loaded at start.
func LoadsWallets(s *Settings) bool {
	if s.Bool("disablewallet", false) {
		return false
	}
	for _, m := range s.settingsRead {
		if HidesSettings(s, m.name) {
			continue
		}
		var names []json.RawMessage
		if m.name == "wallet" && json.Unmarshal(m.value, &names) == nil && len(names) > 0 {
			return true
		}
	}
	return len(s.Strings("wallet")) > 0
}
