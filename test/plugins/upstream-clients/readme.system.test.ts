import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/upstream-clients/README.md',
  example: 'custom-upstream-client',
  tests: 108,
  plugin: 'upstream-client/token_file',
})
