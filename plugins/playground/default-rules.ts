import type { Rule } from 'guard-gateway/core'

const rule = (rule_type: string, threshold: number, window_size: number): Rule => ({
  id: rule_type,
  rule_type,
  threshold,
  window_size,
  action: 'block',
  enabled: true,
})

/** The rules that a scenario runs under unless it brings its own: written out, so that no configuration changes how it ends. */
export const defaultRules: readonly Rule[] = [
  rule('exact_repeat', 3, 8),
  rule('tool_repeat', 3, 8),
  rule('error_retry', 5, 0),
  rule('sequence_repeat', 3, 15),
  rule('max_requests', 50, 0),
  rule('max_tokens', 100_000, 0),
]
