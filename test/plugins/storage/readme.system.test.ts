import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/storage/README.md',
  example: 'custom-storage',
  tests: 52,
  plugin: 'storage/journal',
})
