package main

// netHelp describes -netinfo. Its end is a line of its own.
const netHelp = `-netinfo (level [outonly]) | help

Shows the connections of the node, from the methods getpeerinfo and
getnetworkinfo. The output is for people and may change; scripts should call
the methods. Arguments after the second one are ignored.

Arguments:
1. level    (0 to 4, optional, default=0; up to 255 is taken as 4)
            0 - counts of the connections by network, and the local addresses
            1 - a list of the peers too
            2 - the list with addresses
            3 - the list with versions
            4 - the list with addresses and versions
2. outonly  ("outonly" or "o", optional) list only the peers that the node
            connected to; with a level above 0

help        ("help" or "h", optional) show this text

Columns of the list, which is sorted by direction and shortest ping:

  <->      "in" - the peer connected to the node, "out" - the node to the peer
  type     "full" - blocks, transactions and addresses, "block" - blocks only,
           "manual" - asked for by the operator, "feeler" - to see whether the
           address works, "addr" - to ask for addresses
  net      ipv4, ipv6, onion, i2p, cjdns, or npr (not publicly routable)
  serv     what the peer offers: n - all blocks, l - the last 288 blocks,
           b - bloom filters, w - witness data, c - compact block filters,
           2 - encrypted transport, u - something unknown
  v        version of the transport
  mping    shortest ping, in milliseconds
  ping     last ping, in milliseconds
  send     seconds since something was sent
  recv     seconds since something was received
  txn      minutes since a new transaction came; * - none are exchanged
  blk      minutes since a new block came
  hb       compact blocks at once: . - from the peer, * - to the peer
  addrp    addresses taken from the peer; . - none are exchanged
  addrl    addresses dropped because there were too many
  age      minutes that the connection exists
  asmap    number of the autonomous system, where the node maps them
  id       number of the connection
  address  address and port of the peer
  version  protocol version and name of the peer

Examples:

> trawl-cli -netinfo
> trawl-cli -netinfo 4 outonly
> watch --interval 1 --no-title trawl-cli -netinfo 4
`
