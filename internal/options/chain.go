package options

// Chain is a network by the name that -chain and sections give it.
type Chain string

// The networks.
const (
	Main     Chain = "main"
	Testnet  Chain = "test"
	Testnet4 Chain = "testnet4"
	Signet   Chain = "signet"
	Regtest  Chain = "regtest"
)

// dirs are the folders of the networks below the data directory.
var dirs = map[Chain]string{
	Main: "", Testnet: "testnet3", Testnet4: "testnet4", Signet: "signet", Regtest: "regtest",
}

// Dir returns the folder of a network below the data directory; it is empty
// for the main network.
func (c Chain) Dir() string { return dirs[c] }

// SelectChain settles the network, from -chain, -regtest and their like. From
// now on values in that network's section of the file count.
//
// Errors are of type [*Error].
func (s *Settings) SelectChain() (Chain, error) {
	name, err := s.chainName()
	if err != nil {
		return "", err
	}
	chain := Chain(name)
	if _, ok := dirs[chain]; !ok {
		return "", errorf("Unknown chain %s.", name)
	}
	s.chain = chain
	return chain, nil
}

// Chain returns the selected network.
func (s *Settings) Chain() Chain { return s.chain }

// chainName returns the name of the network that was asked for, even if no such
// network exists.
func (s *Settings) chainName() (string, error) {
	var asked []string
	for _, flag := range []struct {
		option string
		chain  Chain
	}{{"regtest", Regtest}, {"signet", Signet}, {"testnet", Testnet}, {"testnet4", Testnet4}} {
		if s.chainFlag(flag.option) {
			asked = append(asked, string(flag.chain))
		}
	}
	if v, ok := s.lookup("chain"); ok {
		asked = append(asked, v.string())
	}
	switch len(asked) {
	case 0:
		return string(Main), nil
	case 1:
		return asked[0], nil
	default:
		return "",
			errorf("Invalid combination of -regtest, -signet, -testnet, -testnet4 and -chain. Can use at most one.")
	}
}

// UnknownSections returns the sections of the configuration files that are no
// network's, in the order of the files.
func (s *Settings) UnknownSections() []Section {
	var unknown []Section
	for _, section := range s.sections {
		if _, ok := dirs[Chain(section.Name)]; !ok {
			unknown = append(unknown, section)
		}
	}
	return unknown
}
