// Package portstate contains the names of port states in ibstat.
package portstate

// Names lists the names of port states, by their numbers in PortInfo.
var Names = [...]string{"???", "Down", "Initializing", "Armed", "Active"}

// PhysNames lists the names of physical port states, by their numbers in PortInfo.
var PhysNames = [...]string{
	"No state change", "Sleep", "Polling", "Disabled",
	"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest",
}
