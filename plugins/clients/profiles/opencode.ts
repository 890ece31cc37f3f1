import type { Profile } from '../profile.ts'
import { openCodeLike } from './opencode-like.ts'

export const opencode: Profile = openCodeLike({
  id: 'opencode',
  title: 'OpenCode',
  tested_with: '1.18.33',
  command: 'opencode',
  schema: 'https://opencode.ai/config.json',
  file_variable: 'OPENCODE_CONFIG',
  content_variable: 'OPENCODE_CONFIG_CONTENT',
  session: 'x-session-id',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
})
