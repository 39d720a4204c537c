package chainrpc

// Reporting returns how the holder of a slot reports to send.
func Reporting(send func(percent int)) func(done float64) { return newHolder(nil, send).report }
