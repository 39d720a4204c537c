package forward

// others are methods of Core's that change something of the program, or need a secret:
// the node has its own, or nobody is lent them.
var others = set(
	"getmemoryinfo", "logging", "getrpcinfo", "signmessagewithprivkey", "signrawtransactionwithkey", "enumeratesigners",
	"fundrawtransaction", "abortprivatebroadcast", "getprivatebroadcastinfo", "descriptorprocesspsbt",
)

// Named reports whether a list of this package has the method.
func Named(method string) bool {
	return reads[method] || state[method] || always[method] || others[method]
}
