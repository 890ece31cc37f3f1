import type { Form } from 'guard-gateway/lib/page'
import type { Notify } from '../notify.ts'

/** The form that tries one receiver, or each. */
export const testForm = (notify: Notify): Form => ({
  id: 'notify/test',
  path: '/ui/notify/test',
  page: '/notify',
  notices: {
    'notify-delivered': 'The test was delivered.',
    'notify-failed': 'The test was not delivered.',
  },
  submit: async ({ fields }) => {
    const results = await notify.test(fields.get('receiver') || undefined)
    const failed = results.filter(({ outcome }) => outcome !== 'delivered')
    if (failed.length === 0) return { notice: 'notify-delivered' }
    return { faults: failed.map(({ receiver, error }) => ({ field: '', message: `"${receiver}": ${error}` })) }
  },
})
