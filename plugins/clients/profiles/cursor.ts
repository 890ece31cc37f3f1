import type { Profile } from '../profile.ts'

const nowhere =
  "Its model calls come from Cursor's servers, which refuse addresses of your machine; Agent mode and Tab ignore the base URL override."

export const cursor: Profile = {
  id: 'cursor',
  title: 'Cursor',
  style: 'chat_completions',
  commands: ['cursor', 'cursor-agent'],
  impossible: nowhere,
  files: () => [],
  use: () => [],
  undo: () => '',
  session: '',
  on_block: '',
}
