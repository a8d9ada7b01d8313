/**
 * The list of the period's end users.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { api } from './api.ts';
import { FilterBar } from './filter-bar.tsx';
import { filtersOf, orderParameters, parametersOf } from './filters.ts';
import { counted, formatDay, formatNet } from './format.ts';
import { useNarrow, useNavigation } from './hooks.ts';
import { Go, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import { EmptiedBySegment } from './segments.tsx';
import { useRows, VirtualList } from './virtual-list.tsx';

export function Users({ version }: { readonly version: string }) {
  const { state } = useNavigation();
  const period = usePeriod();
  const narrow = useNarrow();
  const parameters = {
    instanceId: period.instance,
    ...period.range,
    ...period.signals,
    groupBy: 'END_USER',
    fields: 'sessions,messages,sat,dsat,netSat,repeatedRequests',
    dimensionFields: 'externalId,createdAt,lastActiveAt',
    ...orderParameters(state.order, 'sessions'),
    ...parametersOf(filtersOf(state)),
  };
  const list = useRows(parameters, version);
  const { total } = list;
  return (
    <Section
      title={total === null ? 'Users' : counted(total, 'user')}
      {...(total === null || total === 0 ? {} : { csv: () => api.csv(parameters) })}
    >
      <FilterBar />
      <VirtualList
        list={list}
        rowHeight={narrow ? 72 : 44}
        label="Users"
        empty={
          <>
            No user in this period. A user turn belongs to a user when it names a userId.
            <EmptiedBySegment parameters={{ ...parameters, groupBy: 'END_USER', fields: 'sessions' }} />
          </>
        }
      >
        {({ dimensions: { endUser }, fields }) =>
          endUser === undefined ? null : (
            <div class="person">
              <p class="title">
                <Go to={{ view: 'user', id: endUser.id }} title={endUser.externalId ?? ''}>
                  {endUser.externalId}
                </Go>
              </p>
              <p class="faint meta">
                {counted(fields.sessions, 'conversation')} · {counted(fields.messages, 'message')} · net{' '}
                {formatNet(fields.netSat)} · since {formatDay(endUser.createdAt ?? '')}
                {(fields.repeatedRequests ?? 0) > 0 ? <span class="tag">asked again</span> : null}
              </p>
            </div>
          )
        }
      </VirtualList>
    </Section>
  );
}
