package options

import "testing"

// Wallets are loaded at start that an option or the settings file names.
func TestLoadsWallets(t *testing.T) {
	for _, test := range []struct {
		member string // of the settings file
		args   []string
		want   bool
	}{
		{"", nil, false},
		{"", []string{"-wallet=w"}, true},
		{"", []string{"-wallet=w", "-disablewallet"}, false},
		{`["w"]`, nil, true},
		{`[""]`, nil, true},
		{`["w"]`, []string{"-disablewallet"}, false},
		{`["w"]`, []string{"-nowallet"}, false},
		{`["w"]`, []string{"-nowallet", "-wallet=v"}, true},
		{`[]`, nil, false},
		{`"w"`, nil, false},
	} {
		s := New([]Option{{Name: "wallet"}, {Name: "disablewallet"}}, t.TempDir())
		if err := s.ParseArgs(test.args); err != nil {
			t.Fatal(err)
		}
		if test.member != "" {
			s.settingsRead = []member{{"other", []byte("[1]")}, {"wallet", []byte(test.member)}}
		}
		if got := LoadsWallets(s); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
		hides := len(test.args) > 0 && test.args[0] == "-nowallet"
		if got := HidesSettings(s, "wallet"); got != hides {
			t.Errorf("%+v: settings hidden: %v", test, got)
		}
	}
}
