package device

import "encoding/json"

// Answers reads a text as the answer to each question.
func Answers(text string) {
	p := &Program{Command: "p"}
	if !json.Valid([]byte(text)) {
		return
	}
	_, _ = p.devicesOf([]byte(text))
	_, _ = addressOf([]byte(text))
	_, _, _ = descriptorsOf([]byte(text))
	_, _ = packetOf([]byte(text))
}
