import { memory } from 'guard-gateway/plugins/storage/memory'
import { storageConforms } from '../../conformance/storage.ts'

storageConforms(memory(), { isPersistent: false })
