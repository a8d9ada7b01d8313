/** One thing that is grouped: which entity holds it now (−1: none) and how much it weighs. */
export interface Holding {
  readonly holder: number;
  readonly mass: number;
}

/**
 * Which existing entity each new group continues, or −1: a group wants the entity that holds most of its
 * mass, and of the groups that want the same entity the one with the most of it gets it. So an entity
 * never continues as something that is mostly another one. Ties: lower entity, earlier group.
 */
export function continuations(groups: readonly (readonly Holding[])[]): number[] {
  const wishes: { group: number; entity: number; mass: number }[] = [];
  groups.forEach((holdings, group) => {
    const wanted = wantedEntity(holdings);
    if (wanted !== null) wishes.push({ group, ...wanted });
  });
  wishes.sort((x, y) => y.mass - x.mass || x.entity - y.entity || x.group - y.group);
  const continued = groups.map(() => -1);
  const taken = new Set<number>();
  for (const { group, entity } of wishes) {
    if (taken.has(entity)) continue;
    taken.add(entity);
    continued[group] = entity;
  }
  return continued;
}

/** The entity that holds most of a group, and how much it holds; null when none holds any. */
export function wantedEntity(holdings: readonly Holding[]): { entity: number; mass: number } | null {
  const masses = new Map<number, number>();
  for (const { holder, mass } of holdings)
    if (holder >= 0) masses.set(holder, (masses.get(holder) ?? 0) + mass);
  let wanted: { entity: number; mass: number } | null = null;
  for (const [entity, mass] of masses) {
    if (wanted === null || mass > wanted.mass || (mass === wanted.mass && entity < wanted.entity)) {
      wanted = { entity, mass };
    }
  }
  return wanted;
}
