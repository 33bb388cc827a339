import { expect, test } from "vitest";
import { queryInputs } from "./queryInputs";

test.each([
  ["SELECT user, amount * 2 AS twice FROM rows", ["rows"]],
  ["select a from views v join people as p on v.id = p.id", ["views", "people"]],
  ["select * from a\nunion all\nselect * from b", ["a", "b"]],
  ["select * from a, b where a.x = b.x", ["a", "b"]],
  ["select * from a x, b y", ["a", "b"]],
  ["select a.n, b.n from a left outer join b using (id)", ["a", "b"]],
  ["select * from rows r join rows s on r.a = s.a", ["rows"]],
  ["select * from (select x from inside where x > 1)", ["inside"]],
  ["select * from `my rows` join `a``b`", ["my rows", "a`b"]],
  ["select extract(year from at), trim(both from name) from rows", ["rows"]],
  ["select a is distinct from b, c is not distinct from d from rows", ["rows"]],
  ["select * from rows order by a, b", ["rows"]],
  ["select distinct user from rows", ["rows"]],
  ["select 'from nowhere' as x, \"join me\" as y from rows", ["rows"]],
  ["select coalesce(a, b), c from rows where d in (1, 2) order by e, f", ["rows"]],
  ["select * from rows join", ["rows"]],
  ["select * from rows left join ", ["rows"]],
  ["select * from", []],
  ["select * from where x", []],
  ["select * from range(10)", []],
  ["select 'it never ends from rows", []],
  [")) select * from rows where ((", ["rows"]],
  ["", []],
])("%s reads %j", (query, names) => expect(queryInputs(query)).toEqual(names));
