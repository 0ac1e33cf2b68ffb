# uses: server_end
mngr_end_if_empty
