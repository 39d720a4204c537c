package options

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// oneFile is a file system of one file.
type oneFile struct{ path, text string }

func (f oneFile) ReadFile(path string) ([]byte, error) {
	if path != f.path {
		return nil, fs.ErrNotExist
	}
	return []byte(f.text), nil
}

func (oneFile) IsDir(string) bool { return true }

var settingsTable = []Option{
	{Name: "datadir"},
	{Name: "settings"},
	{Name: "regtest"},
	{Name: "conf"},
	{Name: "wallet"},
	{Name: "blocknotify"},
	{Name: "a"},
	{Name: "b"},
	{Name: "rpcpassword", Flags: Sensitive},
}

func readSettings(t *testing.T, text string, args ...string) (*Settings, error) {
	t.Helper()
	s := New(settingsTable, "/d")
	if err := s.ParseArgs(args); err != nil {
		t.Fatal(err)
	}
	s.chain = Regtest
	s.config["regtest"] = map[string]span{"a": {{text: "file"}}, "b": {{text: "file"}, {text: "file2"}}}
	return s, s.ReadSettingsFile(oneFile{"/d/regtest/settings.json", text}, "Mice were here")
}

// Values of the settings file are weaker than the command line, and stronger than the
// configuration file.
func TestSettingsFile(t *testing.T) {
	tests := []struct {
		name, text string
		args       []string
		one        string   // value of a, "-" without one
		all        []string // values of b
	}{
		{"none", `{}`, nil, "file", []string{"file", "file2"}},
		{"text", `{"a": "set"}`, nil, "set", []string{"file", "file2"}},
		{"command line", `{"a": "set", "b": "set"}`, []string{"-a=line", "-b=line"}, "line", []string{"line", "set", "file", "file2"}},
		{"number", `{"a": -5}`, nil, "-5", []string{"file", "file2"}},
		{"true", `{"a": true}`, nil, "1", []string{"file", "file2"}},
		{"false", `{"a": false, "b": false}`, nil, "0", nil},
		{"null", `{"a": null}`, nil, "-", []string{"file", "file2"}},
		{"last of several", `{"a": ["x", "y"], "b": ["x", 7]}`, nil, "y", []string{"x", "7", "file", "file2"}},
		{"empty list", `{"a": [], "_warning_": "w"}`, nil, "file", []string{"file", "file2"}},
		{"off", `broken`, []string{"-nosettings"}, "file", []string{"file", "file2"}},
		{"another file", `broken`, []string{"-settings=/x"}, "file", []string{"file", "file2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := readSettings(t, test.text, test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.String("a", "-"); got != test.one {
				t.Errorf("a is %q, want %q", got, test.one)
			}
			if got := s.Strings("b"); !slices.Equal(got, test.all) {
				t.Errorf("b is %q, want %q", got, test.all)
			}
		})
	}
}

func TestSettingsFileRefused(t *testing.T) {
	const damaged = "does not contain valid JSON. Mice were here, and can be fixed by removing the file, which will " +
		"reset settings to default values."
	const wallet = "Invalid value detected for '-wallet' or '-nowallet'."
	for text, want := range map[string]string{
		``: damaged, `{`: damaged, `{} x`: damaged, "\ufeff{}": damaged, "{\"a\":\"\xff\"}": damaged,
		strings.Repeat("[", 20_000): damaged,
		`null`:                      "Found non-object value null in settings file /d/regtest/settings.json",
		`[ ]`:                       "Found non-object value [] in settings",
		`{"a":1,"a":2}`:             "Found duplicate key a in settings file", `{"a":{}}`: "a: the value is no text",
		`{"wallet":5}`: wallet, `{"wallet":null}`: wallet, `{"wallet":["x",false]}`: wallet,
	} {
		if _, err := readSettings(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Wallets are loaded by who keeps them, and no program sets commands.
func TestSettingsFileElsewhere(t *testing.T) {
	s, err := readSettings(t, `{"wallet": ["w"], "blocknotify": "rm x", "unknown": 1}`)
	if err != nil {
		t.Fatal(err)
	}
	if s.IsSet("wallet") || s.IsSet("blocknotify") {
		t.Error("set by the settings file")
	}
	var texts []string
	for _, r := range s.Remarks() {
		texts = append(texts, r.Text)
	}
	want := []string{"Option -blocknotify is not taken from the settings file.", "Ignoring unknown rw_settings value unknown"}
	if !slices.Equal(texts, want) {
		t.Errorf("remarks %q", texts)
	}
}

func TestSettingsFileListing(t *testing.T) {
	s, err := readSettings(t, `{"_warning_": "w", "a": [ 1, "x" ], "rpcpassword": "hush", "rpcpasword": "hush", "n": null}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range s.Listing() {
		if strings.HasPrefix(line, "Setting file arg: ") {
			got = append(got, line[len("Setting file arg: "):])
		}
	}
	if want := []string{`a = [1,"x"]`, "rpcpassword = ****", "rpcpasword = ****", "n = null"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// No file makes the reader panic, and the settings read are the file's.
func FuzzSettingsFile(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":1}`, `{"a":["x",null,false]}`, `[`, `{"wallet":["w"]}`, `{"a":{"b":[]}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := New(settingsTable, "/d")
		s.chain = Regtest
		err := s.ReadSettingsFile(oneFile{"/d/regtest/settings.json", text}, "Mice were here")
		if err != nil && len(s.settingsRead) > 0 {
			t.Errorf("%v, and yet %d members", err, len(s.settingsRead))
		}
		_, _ = s.String("a", ""), s.Listing()
	})
}
