package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	tests := []struct{ name, in, tail string }{
		{"nothing", "", ""},
		{"one package", "ok  \ta\t0.1s\n", ""},
		{
			"order", "ok  \ta\t0.5s\n--- FAIL: TestX (9.00s)\nFAIL\tb\t12.3s\n?   \tc\t[no test files]\nok  \td\t(cached)\nok  \te\t2.0s\nFAIL",
			"slowest packages:\n    12.3 s  b\n     2.0 s  e\n     0.5 s  a\n",
		},
		{
			"ten of twelve", strings.Repeat("ok  \ta\t1.0s\n", 12),
			"slowest packages:\n" + strings.Repeat("     1.0 s  a\n", shown),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			if err := run(strings.NewReader(test.in), &out); err != nil || out.String() != test.in+test.tail {
				t.Errorf("%v, got\n%s", err, out.String())
			}
		})
	}
}
