/** One line of a basket. */
export interface Item {
  name: string
  /** In cents. */
  price: number
  count: number
}

/** A discount for buying many of one kind. */
export interface Discount {
  name: string
  /** From this count on. */
  from: number
  percent: number
}

/** The price of one line in cents, without discount. */
export function linePrice(item: Item): number {
  return item.price * item.count
}

/** What is taken off one line, in whole cents. */
export function lineDiscount(item: Item, discounts: readonly Discount[]): number {
  const best = discounts
    .filter((discount) => discount.name === item.name && item.count >= discount.from)
    .reduce((percent, discount) => Math.max(percent, discount.percent), 0)
  return Math.floor((linePrice(item) * best) / 100)
}

/** The price of a whole basket in cents. */
export function total(items: readonly Item[], discounts: readonly Discount[] = []): number {
  let sum = 0
  for (const item of items) {
    sum += linePrice(item) - lineDiscount(item, discounts)
  }
  return sum
}

/** A receipt with one line for each item, and the total. */
export function receipt(items: readonly Item[], discounts: readonly Discount[] = []): string {
  const lines = items.map((item) => `${item.count} × ${item.name}  ${(linePrice(item) / 100).toFixed(2)}`)
  return [...lines, `total  ${(total(items, discounts) / 100).toFixed(2)}`].join('\n')
}
