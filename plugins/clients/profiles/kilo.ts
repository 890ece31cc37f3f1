import type { Profile } from '../profile.ts'
import { openCodeLike } from './opencode-like.ts'

export const kilo: Profile = openCodeLike({
  id: 'kilo',
  title: 'Kilo CLI',
  tested_with: '7.7.7',
  command: 'kilo',
  schema: 'https://app.kilo.ai/config.json',
  file_variable: 'KILO_CONFIG',
  content_variable: 'KILO_CONFIG_CONTENT',
  session: 'x-session-id',
  on_block: 'stops after one request and shows the message, since it gets status 403; others it repeats without end',
})
