import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/cli/README.md',
  example: 'custom-command',
  tests: 1,
  plugin: 'waiting',
})
