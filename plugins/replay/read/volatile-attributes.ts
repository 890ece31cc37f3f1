const VOLATILE = [
  /(?:^|[._])(?:id|ids|uuid|timestamp|time|started_at|ended_at|seq|port)$/,
  /^gen_ai\.(?:usage|response)\./,
  /^(?:thread|process)\./,
  /(?:duration|latency|elapsed|time_to_first)/,
  /^guard\.(?:usage\.|cost_micro|cost_told_micro|cost_source|price_version|usage_source|preview)/,
]

/** The attribute differs from call to call by nature: ids, times, usage. */
export const isVolatile = (name: string): boolean => VOLATILE.some((pattern) => pattern.test(name))
