import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/ui/README.md',
  example: 'custom-page-and-command',
  tests: 2,
  plugin: 'models',
})
