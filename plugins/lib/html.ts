export {
  amountMark,
  choice,
  costHead,
  costUnit,
  cursorLinks,
  decisionMark,
  faultList,
  instantMark,
  newsMark,
  pageUrl,
  priceMark,
  spellMark,
} from './html/marks.ts'
export { type Hole, Html, html, joined, raw, visible } from './html/template.ts'
