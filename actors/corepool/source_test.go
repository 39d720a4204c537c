package corepool

import (
	"encoding/json"
	"strings"
	"testing"
)

// A list of transactions takes less room than its text, whatever a node sends in its place.
func TestIDList(t *testing.T) {
	id := `"` + strings.Repeat("0", 63) + `1"`
	for text, want := range map[string]int{
		`[]`: 0, `[` + id + `]`: 1, ` [ ` + id + ` , ` + id + ` ] `: 2,
		`[null]`: -1, `[""]`: -1, `[1]`: -1, `[[]]`: -1, `{}`: -1, `["` + strings.Repeat("x", 64) + `"]`: -1,
		`[` + strings.Repeat("null,", 1000) + `null]`: -1,
	} {
		var list idList
		err := json.Unmarshal([]byte(text), &list)
		if want < 0 && err == nil || want >= 0 && (err != nil || len(list) != want) {
			t.Errorf("%.100s: %d ids, %v", text, len(list), err)
		}
		if cap(list)*32 > len(text)+32 {
			t.Errorf("%.100s: room for %d ids", text, cap(list))
		}
	}
}
