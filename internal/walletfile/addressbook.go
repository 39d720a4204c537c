package walletfile

// Name is the record of an address's label.
type Name struct{ Address, Label string }

// Key returns the key of the record.
func (n Name) Key() []byte { return appendBytes(KeyPrefix("name"), n.Address) }

// Value returns the value of the record.
func (n Name) Value() []byte { return appendBytes(nil, n.Label) }

func parseName(key, value *cursor) Entry {
	return Name{Address: key.text(), Label: value.text()}
}

// Purpose is the record of what an address is for: receive, send or refund.
type Purpose struct{ Address, Purpose string }

// Key returns the key of the record.
func (p Purpose) Key() []byte { return appendBytes(KeyPrefix("purpose"), p.Address) }

// Value returns the value of the record.
func (p Purpose) Value() []byte { return appendBytes(nil, p.Purpose) }

func parsePurpose(key, value *cursor) Entry {
	return Purpose{Address: key.text(), Purpose: value.text()}
}

// UsedName is the name of the [DestData] that marks an address as spent from,
// with the text 1.
const UsedName = "used"

// RequestPrefix is how the name of a [DestData] begins that keeps a request for a payment.
const RequestPrefix = "rr"

// DestData is the record of a named text that belongs to an address: used, or
// rr and a number for a payment request.
type DestData struct{ Address, Name, Text string }

// Key returns the key of the record.
func (d DestData) Key() []byte {
	return appendBytes(appendBytes(KeyPrefix("destdata"), d.Address), d.Name)
}

// Value returns the value of the record.
func (d DestData) Value() []byte { return appendBytes(nil, d.Text) }

func parseDestData(key, value *cursor) Entry {
	return DestData{Address: key.text(), Name: key.text(), Text: value.text()}
}
