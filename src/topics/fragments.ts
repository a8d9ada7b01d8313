/**
 * Fragments: groups that average linkage leaves small beside the instance. A fragment joins the nearest large group if
 * that one is near or stands out; otherwise it becomes a topic when it has enough requests. Without this, an old
 * instance fills up with fragments of large topics.
 */
import { dotsOf } from '../numeric/vectors.ts';
import { sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { LEAST_REQUESTS, type TopicState } from './topic-state.ts';

/** A group is a fragment below this many times the square root of the instance's requests. */
const SMALL_ROOT = 0.3;
/** A fragment joins the nearest large one down to this share of the topic threshold, above the similarity floor. */
const JOINING_SHARE = 0.6;
/** The same for a large group that is much nearer than all others. */
const STANDING_OUT_SHARE = 0.25;
/** With fewer other groups, the distance to them says nothing, so none stands out. */
const FEWEST_OTHERS = 5;

type Group = readonly MicroCluster[];

/** Divides groups into those that become topics, large ones with the fragments that join them, and those too small. */
export function joinFragments(
  { requests, thresholds }: TopicState,
  groups: readonly Group[],
): { topical: Group[]; small: Group[] } {
  const enough = Math.max(LEAST_REQUESTS, Math.floor(SMALL_ROOT * Math.sqrt(requests)));
  const large = groups
    .filter((group) => weightOf(group) >= enough)
    .map((group) => ({ members: [...group], sum: sumOf(group), weight: weightOf(group) }));
  const sums = large.map(({ sum }) => sum);
  const dots = new Float64Array(large.length);
  const topical: Group[] = [];
  const small: Group[] = [];
  for (const group of groups) {
    const weight = weightOf(group);
    if (weight >= enough) continue;
    const hasTopic = group.some(({ topic }) => topic >= 0);
    if (weight < LEAST_REQUESTS && hasTopic) {
      small.push(group);
      continue;
    }
    dotsOf(sumOf(group), sums, dots);
    const similarities = large.map((target, index) => dots[index]! / (weight * target.weight));
    const nearest = indexOfLargest(similarities);
    const share = standsOut(similarities, nearest) ? STANDING_OUT_SHARE : JOINING_SHARE;
    const { topic, floor, hysteresis } = thresholds;
    const least = floor + (topic - floor) * share + (hasTopic ? hysteresis : 0);
    if (nearest >= 0 && similarities[nearest]! >= least) large[nearest]!.members.push(...group);
    else if (weight >= LEAST_REQUESTS) topical.push(group);
    else small.push(group);
  }
  return { topical: [...large.map(({ members }) => members), ...topical], small };
}

/** The first place of the largest number; −1 when there is none. */
function indexOfLargest(numbers: readonly number[]): number {
  return numbers.reduce((best, value, index) => (best < 0 || value > numbers[best]! ? index : best), -1);
}

/**
 * Whether the number at `place` exceeds the mean of the others by more than the largest of as many normally distributed
 * numbers would: by √(2 ln n) standard deviations.
 */
function standsOut(numbers: readonly number[], place: number): boolean {
  const others = numbers.filter((_, index) => index !== place);
  const count = others.length;
  if (count < FEWEST_OTHERS) return false;
  const mean = others.reduce((sum, value) => sum + value, 0) / count;
  const squares = others.reduce((sum, value) => sum + value * value, 0);
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean));
  return numbers[place]! - mean >= Math.sqrt(2 * Math.log(count)) * deviation;
}
