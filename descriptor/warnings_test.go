package descriptor_test

import (
	"slices"
	"testing"
)

// TestWarnings tells of relative lock times that lock for less than they say, wherever they stand, the last of an
// expression first as in Core.
func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"wsh(and_v(v:pk(" + testKey + "),older(1)))", nil},
		{"wsh(and_v(v:pk(" + testKey + "),older(65535)))", nil},
		{"wsh(and_v(v:pk(" + testKey + "),older(4194305)))", nil},
		{"wsh(and_v(v:pk(" + testKey + "),older(4259839)))", nil},
		{"wsh(and_v(v:pk(" + testKey + "),after(65536)))", nil},
		{"pkh(" + testKey + ")", nil},
		{
			"wsh(and_v(v:pk(" + testKey + "),older(65536)))",
			[]string{"height-based relative locktime: older(65536) > 65535 blocks is unsafe"},
		},
		{
			"sh(wsh(and_v(v:pk(" + testKey + "),older(65537))))",
			[]string{"height-based relative locktime: older(65537) > 65535 blocks is unsafe"},
		},
		{
			"wsh(and_v(v:pk(" + testKey + "),older(4259840)))",
			[]string{"time-based relative locktime: older(4259840) > (65535 * 512) seconds is unsafe"},
		},
		{
			"wsh(and_v(v:pk(" + testKey + "),older(2147483647)))",
			[]string{"time-based relative locktime: older(2147483647) > (65535 * 512) seconds is unsafe"},
		},
		{
			"wsh(and_v(v:pk(" + testKey + "),older(4194304)))",
			[]string{"time-based relative locktime: older(4194304) locks for no time"},
		},
		{
			"tr(" + testXpub + "/0,{and_v(and_v(v:pk(" + testXpub + "/1),v:older(70000)),older(5))," +
				"or_i(and_v(v:pk(" + testXpub + "/2),older(4260000)),and_v(v:pk(" + testXpub + "/3),older(80000)))})",
			[]string{
				"height-based relative locktime: older(70000) > 65535 blocks is unsafe",
				"height-based relative locktime: older(80000) > 65535 blocks is unsafe",
				"time-based relative locktime: older(4260000) > (65535 * 512) seconds is unsafe",
			},
		},
	} {
		if got := parse(t, test.text, mainNet).Warnings(); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.text, got, test.want)
		}
	}
}
