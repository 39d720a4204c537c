package transport

// shortNames are the names that BIP324 gives a number, by that number, and the name of BIP434. Numbers without a name
// are for messages that are not made.
var shortNames = [...]string{
	1: "addr", 2: "block", 3: "blocktxn", 4: "cmpctblock", 5: "feefilter", 6: "filteradd", 7: "filterclear",
	8: "filterload", 9: "getblocks", 10: "getblocktxn", 11: "getdata", 12: "getheaders", 13: "headers", 14: "inv",
	15: "mempool", 16: "merkleblock", 17: "notfound", 18: "ping", 19: "pong", 20: "sendcmpct", 21: "tx",
	22: "getcfilters", 23: "cfilter", 24: "getcfheaders", 25: "cfheaders", 26: "getcfcheckpt", 27: "cfcheckpt",
	28: "addrv2", 37: "feature",
}

// shortIDs are the numbers by the names.
var shortIDs = func() map[string]byte {
	ids := make(map[string]byte)
	for id, name := range shortNames {
		if name != "" {
			ids[name] = byte(id)
		}
	}
	return ids
}()
