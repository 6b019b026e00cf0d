-- How does a page print a value? Said once more, so that a page is not compared with itself.

create macro p_ratio(x) as coalesce(printf('%.2f×', x), '–');
create macro p_0(x) as coalesce(format('{:,.0f}', x::double), '–');
create macro p_1(x) as coalesce(format('{:,.1f}', x::double), '–');
create macro p_2(x) as coalesce(format('{:,.2f}', x::double), '–');
create macro p_3(x) as coalesce(format('{:,.3f}', x::double), '–');
create macro p_share(x) as coalesce(format('{:.0f} %', x::double * 100), '–');
create macro p_day(x) as strftime(x, '%Y-%m-%d');
create macro p_memory(mib) as
  case
    when mib is null then '–'
    when mib < 1024 then format('{:.0f} MiB', mib::double)
    else format('{:.3g} GiB', mib / 1024)
  end;
create macro p_count(n, noun) as format('{:,} {}', n, noun) || if(n = 1, '', 's');

-- A bound of a ratio is not printed beyond a factor of ten.
create macro p_bound(x) as
  case when x < 0.1 then '<0.1' when x > 10 then '>10' else printf('%.2f', x) end;
create macro p_range(low, high) as '[' || p_bound(low) || ', ' || p_bound(high) || ']';
create macro p_speedup(x, low, high) as concat_ws(' ', p_ratio(x), p_range(low, high));

create macro p_verdict(verdict) as
  case verdict
    when 'helps' then '△ helps'
    when 'hurts' then '▽ hurts'
    when 'helps-confirmed' then '▲ helps (confirmed)'
    when 'hurts-confirmed' then '▼ hurts (confirmed)'
    when 'uncertain' then '○ uncertain'
    when 'no-clear-difference' then '● no clear difference'
    when 'too-few-prompts' then '○ too few prompts'
    when 'never-drafted' then '○ never drafted'
    when 'failed' then '✕ failed'
  end;
create macro p_judged(x, low, high, verdict) as
  concat_ws(' ', p_speedup(x, low, high), p_verdict(verdict));

create macro p_task(task) as
  case coalesce(task, 'all')
    when 'all' then 'All tasks'
    when 'json' then 'Structured JSON'
    when 'creative' then 'Creative writing'
    else upper(task[1]) || task[2:]
  end;
create macro p_method(label, depth, at_once, draft, conditions := null) as
  concat_ws(' ', label, '· depth ' || nullif(depth, 0), if(at_once > 1, '· ' || at_once || ' at once', null),
    '· ' || conditions, draft);

-- How far a ratio is from 1, to either side.
create macro abs_error(ratio) as exp(abs(ln(ratio))) - 1;
