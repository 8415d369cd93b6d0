"""Problems that outlive the server, kept on the disk with all that they depend on."""
