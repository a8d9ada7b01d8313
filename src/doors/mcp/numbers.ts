/**
 * Formats numbers for models.
 *
 * Test: test/doors/mcp/numbers.test.ts.
 */
import { isRatio, type Metric } from '../../domain/metrics.ts';

/** Formats a number with at most one decimal, or with two digits if it is below one tenth; `-` without a value. */
export function number(value: unknown): string {
  if (typeof value !== 'number') return typeof value === 'string' ? value : '-';
  if (Math.abs(value) < 0.1) return String(Number(value.toPrecision(2)));
  return String(Math.round(value * 10) / 10);
}

/** Formats a share from 0 to 1 in percent. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 || value === 0 ? Math.round(value) : Math.round(value * 10) / 10}%`;
}

/** Formats the change of a count: `+12%`, `-3%`; empty if it was 0 before. */
export function change(now: number, before: number): string {
  if (before === 0) return '';
  const part = Math.round(((now - before) / before) * 100);
  return `${part > 0 ? '+' : part === 0 ? '±' : ''}${part}%`;
}

/**
 * Formats the value of the period before and the change since then: `10, +20%`. A ratio has no change, nor has a value
 * that is missing.
 */
export function beforeOf(metric: Metric, now: number | null, before: number | null): string {
  const moved = isRatio(metric) || now === null || before === null ? '' : change(now, before);
  return moved === '' ? number(before) : `${number(before)}, ${moved}`;
}

/** Formats a count with its noun: `1 session`, `2 sessions`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
