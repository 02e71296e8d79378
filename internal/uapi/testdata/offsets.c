// Prints the offsets that umad_test.go holds: cc offsets.c && ./a.out
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>
#include <stddef.h>
#include <stdio.h>

#define HDR(f) printf("%s %zu\n", #f, offsetof(struct ib_user_mad_hdr, f))
#define REG(f) printf("reg.%s %zu\n", #f, offsetof(struct ib_user_mad_reg_req2, f))

int main(void)
{
	HDR(id); HDR(status); HDR(timeout_ms); HDR(retries); HDR(length); HDR(qpn); HDR(qkey); HDR(lid);
	HDR(sl); HDR(path_bits); HDR(grh_present); HDR(gid_index); HDR(hop_limit); HDR(traffic_class);
	HDR(gid); HDR(flow_label); HDR(pkey_index);
	REG(id); REG(qpn); REG(mgmt_class); REG(mgmt_class_version); REG(flags); REG(method_mask);
	REG(oui); REG(rmpp_version);
	printf("sizes %zu %zu, REGISTER_AGENT2 0x%lx\n", sizeof(struct ib_user_mad_hdr),
	       sizeof(struct ib_user_mad_reg_req2), (unsigned long)IB_USER_MAD_REGISTER_AGENT2);
}
