import type { UpstreamOptions } from 'guard-gateway/plugins/upstream'

/** An upstream of every style, and what is different about it. */
export const anUpstream = (name: string, base_url: string, more: Partial<UpstreamOptions> = {}): UpstreamOptions => ({
  name,
  base_url,
  styles: ['chat_completions', 'messages', 'responses'],
  ...more,
})
