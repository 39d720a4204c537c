package corenode

import (
	"encoding/json"
	"testing"
)

func TestAmount(t *testing.T) {
	for text, want := range map[string]int64{
		"0.00000001": 1, "1": 1e8, "-0.50000000": -5e7, "20999999.97690000": 2099999997690000,
	} {
		var got Amount
		if err := json.Unmarshal([]byte(text), &got); err != nil || int64(got) != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{`1e-8`, `"1"`, `0.123456789`, `99999999999999999999`, `{}`, `1.-5`, ``, `null `} {
		var got Amount
		if err := got.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}
