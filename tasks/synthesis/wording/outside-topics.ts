/** One request, or two things that somebody wants together. `(a|b)` is one of these. */
export type OutsideRequest = string | readonly [first: string, second: string]

/** Requests about one thing, none of which a tool of any world serves. */
export interface OutsideTopic {
  readonly name: string
  /** The world to whose assistant somebody would turn with it; anybody's assistant where there is none. */
  readonly environment?: string
  readonly requests: readonly OutsideRequest[]
}

/**
 * What people ask of an assistant that cannot do it and of which nobody knows the answer by heart: near to what the tools of a world are for, or
 * what is going on in the world at the moment. What everybody knows is not among it, for an assistant without any tool would answer that.
 */
export const OUTSIDE_TOPICS: readonly OutsideTopic[] = [
  {
    name: 'loans',
    environment: 'banking',
    requests: [
      'Apply for a (car|home improvement|student) loan of (5000|8000|12000|20000) euros in my name.',
      [
        'How much could I borrow from you with my salary?',
        'What would I pay a month on a mortgage of (180000|220000|250000) euros?',
      ],
      ['Ask for a lower rate on my (mortgage|car loan).', 'Tell me what I would save by that.'],
      'Raise my overdraft to (500|1000|2000) euros.',
      'Pay my (car loan|student loan) off early.',
    ],
  },
  {
    name: 'cash and branches',
    environment: 'banking',
    requests: [
      'Order (300|400|600) (Swiss francs|US dollars|Swedish kronor) in cash for me to pick up at the branch.',
      'Is the cash machine (at the station|in the shopping centre|at the airport) working?',
      ['Get me an appointment with an adviser at the branch (on Thursday|next week).', 'Tell me what I have to bring.'],
      ['Until when is the branch (in the old town|at the station) open today?', 'Can I pay in coins there?'],
      'Order me a new cheque book.',
    ],
  },
  {
    name: 'bank papers',
    environment: 'banking',
    requests: [
      'Send me the statement of (January|February|last year) as a PDF.',
      'I need the tax certificate for last year.',
      ['Change my address with the bank to our new one.', 'Have my statements sent there from now on.'],
      ['Get me the tax certificate for last year.', 'Send a copy to my tax adviser.'],
      'Change the PIN of my card to a new one.',
    ],
  },
  {
    name: 'cheaper contracts',
    environment: 'budget',
    requests: [
      ['Find me a cheaper (electricity|internet|gas|phone) contract.', 'Cancel the one we have now.'],
      'How much do other families of (three|four|five) spend on (groceries|heating|clothes)?',
      'Cancel our (gym|newspaper|streaming) subscription.',
      ['What will (electricity|heating|water) cost us next winter?', 'Should we switch before that?'],
      'Switch our (car|home|travel) insurance to a cheaper one.',
    ],
  },
  {
    name: 'household papers',
    environment: 'budget',
    requests: [
      'Scan the receipt from (the hardware shop|the supermarket|the pharmacy) that I have here.',
      ['Export what we spent in (January|February) to a spreadsheet.', 'Send it to my (wife|husband|sister) by email.'],
      'File our tax return for last year.',
      ['Print the overview of February for the fridge.', 'Make a chart of it.'],
    ],
  },
  {
    name: 'calendar set-up',
    environment: 'calendar',
    requests: [
      'Sync my calendar with (my phone|my old calendar|the one of my sports club).',
      ['Print my calendar for (this week|March|next week).', 'Leave the private events out.'],
      'Change the colour of my (work|private) calendar to (green|orange|blue).',
      ['Show the (public holidays|school holidays) in my calendar.', 'Give them a colour of their own.'],
      'Move my calendar to another time zone while I travel.',
    ],
  },
  {
    name: 'alarms',
    environment: 'calendar',
    requests: [
      'Wake me with the radio (tomorrow|on Wednesday) instead of the bell.',
      'Set a timer for (5|8|12|20|25|40) minutes.',
      'Start a stopwatch.',
      ['Turn my alarm off for (tomorrow|Wednesday).', 'Have it ring half an hour later on (Thursday|Friday).'],
      ['Set my alarm clock to (six|half past six|seven).', 'Make its bell (louder|softer).'],
    ],
  },
  {
    name: 'quotes and contracts',
    environment: 'crm',
    requests: [
      ['Draw up a contract for our newest customer.', 'Have legal look it over.'],
      'Send our (biggest|newest) customer a quote to sign.',
      ['Make a PDF of the offer that we talked about (yesterday|on Friday).', 'Send it to the client.'],
      'Have the signed contracts of (January|last week) filed by legal.',
      'Send the price list for (this year|spring) to all customers.',
    ],
  },
  {
    name: 'sales figures',
    environment: 'crm',
    requests: [
      'What will our revenue be next quarter?',
      ['What did the trade fair cost us (last year|in January)?', 'Did we sell anything there?'],
      'What do our competitors charge for (training|support|a starter plan)?',
      'Check the credit rating of our biggest customer.',
      ['Work out my commission for (January|February).', 'Have it paid out.'],
    ],
  },
  {
    name: 'calls with customers',
    environment: 'crm',
    requests: [
      'Call my next lead and put me through.',
      ['Write down what was said on my call with the client (this morning|on Friday).', 'Mail it to my team.'],
      'Leave a message on the answering machine of our (newest|biggest) customer.',
      [
        'Forward my calls to my mobile (this afternoon|until tomorrow).',
        'Play my own greeting to those who call at night.',
      ],
    ],
  },
  {
    name: 'mailbox settings',
    environment: 'email',
    requests: [
      'Change the password of my mailbox.',
      ['Put my new mobile number into my email signature.', 'Take the old one out.'],
      'Set up a second address for (the family|the club|my side job).',
      ['How much space is left in my mailbox?', 'What does more of it cost?'],
      'Set up my mail on my new phone as well.',
    ],
  },
  {
    name: 'letters and faxes',
    environment: 'email',
    requests: [
      'Send my (landlord|insurance|lawyer) a letter by registered post.',
      'Fax the form to the (tax office|town hall|clinic).',
      ['Print the (tickets|directions|forms) from my last email.', 'Leave them at reception for me.'],
      ['Scan the letter that came from the (bank|landlord|insurance) today.', 'Put the original into my folder.'],
      'Has the parcel from my (aunt|supplier|publisher) arrived at reception?',
    ],
  },
  {
    name: 'installing programs',
    environment: 'filesystem',
    requests: [
      'Install (Docker|ffmpeg|LaTeX) on this machine.',
      ['Update the operating system.', 'Restart the machine once that is done.'],
      ['Which version of (git|Python|Node) is installed here?', 'Is there a newer one?'],
      ['Install the newest (Java|Python).', 'Remove the old one.'],
      'Upgrade (git|Node|the compiler) to the newest version.',
    ],
  },
  {
    name: 'running programs',
    environment: 'filesystem',
    requests: [
      'Run the (build|tests|backup) in my project.',
      'Restart the (web server|database).',
      ['Which process eats up the (memory|processor)?', 'How long has it been running?'],
      ['Kill whatever is running on port (3000|8080|5432).', 'Start the web server again.'],
      'Start the (training|import|migration) in the background.',
    ],
  },
  {
    name: 'the network',
    environment: 'filesystem',
    requests: [
      'Download the newest release of (the project|our library) from GitHub.',
      'Which IP address does this machine have?',
      ['Is the (staging|mail|build) server reachable?', 'How fast does it answer?'],
      ['Log in to the (build|staging|backup) server by ssh.', 'Fetch the log files from there.'],
      'Upload my (results|slides|photos) to the cloud.',
    ],
  },
  {
    name: 'tables in restaurants',
    environment: 'food_delivery',
    requests: [
      'Reserve a table for (two|four|six) at a good (Thai|Italian|Greek) place (tonight|on Friday at eight|on Saturday).',
      ['Is there a long queue at the (noodle bar|burger place|ice cream shop) now?', 'Do they have seats outside?'],
      'Can I bring my dog to the (pizzeria|beer garden|bistro)?',
      ['Put us on the waiting list of that new (sushi|tapas) bar.', 'Ask for a table by the window.'],
    ],
  },
  {
    name: 'cooking',
    environment: 'food_delivery',
    requests: [
      'Have a cook come to us for (eight|ten|twelve) people on (Saturday|Sunday).',
      ['What do I still have in the fridge?', 'What could I cook with it?'],
      'Get (milk and eggs|bread and butter|fruit) from the supermarket round the corner.',
      ['Start the oven so that it is hot in (ten|twenty) minutes.', 'Set a timer for the lasagne.'],
      'How many calories did I eat (yesterday|last week)?',
    ],
  },
  {
    name: 'home internet',
    environment: 'iot_devices',
    requests: [
      ['Change the Wi-Fi password.', 'Send the new one to my family.'],
      ['Why is the Wi-Fi so slow (upstairs|in the bedroom|on the balcony)?', 'Would a second router help?'],
      'Set up a guest network for (tonight|the weekend).',
      'How much data did we use (last month|this week)?',
      'Block (games|videos) on the children’s tablets after eight.',
    ],
  },
  {
    name: 'trades at home',
    environment: 'iot_devices',
    requests: [
      ['Get me a (plumber|chimney sweep|glazier) for (tomorrow|Thursday|next week).', 'Ask what it will cost.'],
      'Read the (water|gas) meter and send the number in.',
      'What does a kilowatt hour cost me at the moment?',
      ['When does the (heating engineer|window cleaner) come?', 'Does somebody have to be at home for that?'],
      'Book somebody to clean the (windows|carpets|gutters) (this week|next week).',
    ],
  },
  {
    name: 'builds and deployments',
    environment: 'issue_tracker',
    requests: [
      'Deploy the (main|release) branch to (staging|production).',
      ['Why did the build fail (last night|this morning)?', 'Who broke it?'],
      ['Roll the last deployment back.', 'Run the (end-to-end|nightly) tests again.'],
      'Merge my pull request.',
      'Is (staging|production) up?',
    ],
  },
  {
    name: 'working hours',
    environment: 'issue_tracker',
    requests: [
      ['Log (two|three|five) hours of work for (yesterday|Friday).', 'Send my time sheet in.'],
      'How many hours did the team book last week?',
      ['Who on my team is on holiday (this week|next week)?', 'Who stands in for them?'],
      'Approve (February’s|last week’s) time sheets.',
    ],
  },
  {
    name: 'traffic',
    environment: 'maps',
    requests: [
      [
        'Is there a traffic jam on the (ring road|motorway to the airport|bridge) right now?',
        'How long does it hold me up?',
      ],
      'How full is the car park (at the station|at the airport|under the market)?',
      'Are there speed checks on the (coast road|ring road) today?',
      'How much snow is there on the motorway <city> (today|this weekend)?',
    ],
  },
  {
    name: 'public transport',
    environment: 'maps',
    requests: [
      ['When does the next (train|bus) to <place> leave?', 'How much is a ticket?'],
      ['Is the (8:15|7:40|17:05|18:30) train from <place> late (today|again)?', 'Which platform does it come in at?'],
      'Buy me a train ticket to <place> for (tomorrow|Friday|Monday morning).',
      'Are the buses on strike <city> (today|tomorrow|this week)?',
      'Renew my (monthly|yearly) bus pass, please.',
    ],
  },
  {
    name: 'questions to sellers',
    environment: 'marketplace',
    requests: [
      ['Ask the seller for more photos of the (bike|sofa|lamp).', 'Find out how old it is.'],
      ['Ask the seller whether the (camera|piano|tent) has scratches.', 'Ask for a video of it, too.'],
      'Tell the seller that I can come by on (Saturday|Friday evening).',
      'Report a seller who never answers.',
    ],
  },
  {
    name: 'getting things sold',
    environment: 'marketplace',
    requests: [
      'Put my listing at the top for a week.',
      ['What did (bikes|sofas|record players) like mine cost when new?', 'What do dealers pay for one?'],
      'Have somebody pick the (wardrobe|washing machine) up from my place.',
      ['Make the photos of my (bike|sofa) brighter.', 'Cut the background out.'],
      'Verify my account with my identity card.',
    ],
  },
  {
    name: 'taxes of a business',
    environment: 'payments',
    requests: [
      ['Work out the VAT for (February|January|last quarter).', 'File the return.'],
      'How much income tax do I have to set aside?',
      'Change the tax rate on my invoices to (7|10|19) percent.',
      ['Get last year’s accounts ready.', 'Send them to the tax office.'],
      'Book the depreciation of my (van|laptop|camera).',
    ],
  },
  {
    name: 'collecting debts',
    environment: 'payments',
    requests: [
      ['Send a reminder by post to everybody who owes me money.', 'Add a fee of (5|8|10) euros.'],
      'Hand the oldest debt over to a collection agency.',
      'Offer my customers payment in (three|six) instalments.',
      ['Put our new logo on the invoices.', 'Print our new address below it.'],
    ],
  },
  {
    name: 'staff of the branches',
    environment: 'retail_chain',
    requests: [
      ['Who works the (late|early) shift (today|tomorrow|on Saturday)?', 'Is anybody off sick?'],
      'Find somebody to stand in at the till (this afternoon|tomorrow).',
      'Approve the holidays of my team for (April|Easter|the summer).',
      'How many hours did the students work in (January|February)?',
      [
        'Put up an advert for a (shop assistant|store manager|cleaner).',
        'Invite everybody who applies for an interview.',
      ],
    ],
  },
  {
    name: 'tills',
    environment: 'retail_chain',
    requests: [
      ['What did our (smallest|biggest|newest) store take yesterday?', 'Was it more than the week before?'],
      'Print new price labels for the (toys|lamps|kitchen things).',
      'Order change for the tills.',
      'How many customers came in on (Saturday|Friday)?',
      ['Which till was short (yesterday|last week)?', 'By how much?'],
    ],
  },
  {
    name: 'parcels',
    environment: 'shopping',
    requests: [
      'Have my parcel left with the (neighbour|kiosk next door).',
      ['Move the delivery of my parcel to (Friday|Saturday|next week).', 'Tell the driver to ring twice.'],
      ['Call the driver who has my parcel.', 'Ask when it will be here.'],
      'Let somebody pick the returned (shoes|jacket|lamp) up from my door.',
      'Complain to the post about the broken parcel.',
    ],
  },
  {
    name: 'customer service',
    environment: 'shopping',
    requests: [
      'Put me through to somebody in customer service.',
      ['Have somebody from the shop call me back (this afternoon|tomorrow).', 'Give them my mobile number.'],
      'Change the password of my shop account.',
      'Send me the printed catalogue for (spring|summer).',
      ['Log me out of the shop on all my devices.', 'Delete my account.'],
    ],
  },
  {
    name: 'profile settings',
    environment: 'social_media',
    requests: [
      [
        'Change my profile picture to the one from (the beach|my wedding|last summer).',
        'Put a new picture behind it, too.',
      ],
      'Change my user name.',
      ['Turn on two-step login for my account.', 'Log me out everywhere else.'],
      'Delete my account.',
      'Get me one of those blue ticks.',
    ],
  },
  {
    name: 'reach',
    environment: 'social_media',
    requests: [
      'Who looked at my profile (yesterday|this week|last night)?',
      ['How many people saw my last post?', 'What would it cost to show it to more of them?'],
      'Run an advert for my last post for (20|50|100) euros.',
      ['Upload the video of my (cat|holiday|daughter’s first steps).', 'Put some music under it.'],
      'Start a live stream (now|at eight|after lunch).',
    ],
  },
  {
    name: 'chat settings',
    environment: 'team_chat',
    requests: [
      ['Set my status to (away|on holiday|in a meeting).', 'Mute my notifications until (noon|two|tomorrow).'],
      ['Make a poll about (lunch|the team day|the new logo).', 'Close it (tonight|on Friday).'],
      'Upload the (slides|minutes|mock-ups) for the team.',
      'Delete the channel that nobody uses any more.',
      'Turn the chat to dark colours.',
    ],
  },
  {
    name: 'people in the office',
    environment: 'team_chat',
    requests: [
      ['Who of the team is in the office (today|tomorrow)?', 'Is anybody there before nine?'],
      'Call (our team lead|the help desk) and put me through.',
      ['Order (pizza|cake|sandwiches) for the team (today|on Friday).', 'Charge it to the department.'],
      'Book me a desk by the window for (tomorrow|Thursday).',
      'Hand in my holidays for (Easter|the first week of August).',
    ],
  },
  {
    name: 'markets',
    environment: 'trading',
    requests: [
      ['What is (Bitcoin|gold|oil|silver) at right now?', 'Was it higher (last week|a year ago)?'],
      'What did the central bank decide (yesterday|today|last week)?',
      'How is the (dollar|pound|franc|yen) doing against the euro today?',
      'How did Wall Street close (on Friday|last night)?',
      'Buy me (0.1|0.05|half a) Bitcoin.',
    ],
  },
  {
    name: 'investor papers',
    environment: 'trading',
    requests: [
      ['Make the tax report for last year.', 'Send it to my tax adviser.'],
      'Set up a savings plan of (50|100|200) euros a month.',
      'Move my shares to another broker.',
      'Change the bank account that my dividends go to.',
      ['When is the next shareholders’ meeting?', 'Can I vote by post?'],
    ],
  },
  {
    name: 'ground transport',
    environment: 'travel_booking',
    requests: [
      ['Rent me a car <city> for (two|three|five) days.', 'Add full insurance.'],
      'Get me a taxi to the airport at (six|half past seven|nine).',
      'Buy me a train ticket from <place> to the airport.',
      ['Book a parking space at the airport for (Thursday|next week|Monday).', 'Get me a shuttle to the terminal.'],
      'Have a driver with a sign wait for our guests.',
    ],
  },
  {
    name: 'travel papers',
    environment: 'travel_booking',
    requests: [
      ['Do I need a visa for (India|Vietnam|Kenya|Brazil)?', 'How long does it take to get one?'],
      'Get me travel insurance for (next week|the spring|two weeks).',
      'Check me in for my flight and send me the boarding pass.',
      ['Find the suitcase that did not arrive.', 'Have it brought to my hotel.'],
      'Claim compensation for the flight that was late (last week|in January).',
      'Renew my passport.',
    ],
  },
  {
    name: 'keeping a car',
    environment: 'vehicle',
    requests: [
      'Renew my car insurance.',
      'Pay the parking fine that was on the windscreen.',
      ['Have the car washed (today|tomorrow|before the weekend).', 'Get the seats cleaned, too.'],
      'Call roadside assistance.',
      ['Order me (winter|summer) tyres.', 'Have the old ones taken away.'],
      'Register the car with the town.',
    ],
  },
  {
    name: 'phone in the car',
    environment: 'vehicle',
    requests: [
      ['Call (my wife|my husband|the school|my office).', 'Say that I am late.'],
      'Read me the news.',
      'Answer the phone when (my mother|the school|my boss) rings.',
      ['Read me my last message.', 'Answer that I will be there in (ten|twenty) minutes.'],
      'Open the garage door at home.',
    ],
  },
  {
    name: 'camera and screen',
    environment: 'video_meeting',
    requests: [
      ['Blur my background.', 'Make my picture a bit brighter.'],
      'Share my screen with everybody.',
      'Turn on subtitles in (English|Spanish|French).',
      'Make my microphone louder.',
      'Put a picture of (the sea|a library|our logo) behind me.',
    ],
  },
  {
    name: 'minutes of calls',
    environment: 'video_meeting',
    requests: [
      ['Write the minutes of (yesterday’s|this morning’s|the last) call.', 'Send them to everybody who was there.'],
      'Turn what was said in the last call into text.',
      'Send everybody the slides that were shown.',
      'Make a poll during the call.',
      ['Split the participants into groups of (three|four).', 'Give them ten minutes.'],
    ],
  },
  {
    name: 'weather',
    requests: [
      'Will it rain <city> (tomorrow|tonight|this weekend|on Saturday|this afternoon)?',
      ['How (warm|cold|windy) is it <city> right now?', 'Will it stay like that?'],
      'Do I need (an umbrella|a coat|sunscreen) <city> today?',
      ['Is there a storm coming <city> (tonight|this week|tomorrow)?', 'How bad will it be?'],
      'How high is the pollen count <city> (today|tomorrow)?',
    ],
  },
  {
    name: 'sports results',
    requests: [
      [
        'Who won the (football|rugby|basketball|ice hockey|handball|volleyball) (last night|yesterday|on Sunday)?',
        'What was the score?',
      ],
      'What is the score in the (football|rugby|basketball|ice hockey|handball) right now?',
      "When does the (women's|men's) national (football|rugby|basketball|handball) team play next?",
      'Who is leading the (football league|Six Nations|ski world cup|basketball league)?',
      [
        'How is our (football|rugby|handball) team doing in the league?',
        'When is the next home match, and are there tickets left?',
      ],
    ],
  },
  {
    name: 'television and cinema',
    requests: [
      ['What is on TV (tonight|at eight|on Friday evening)?', 'Is a good film on?'],
      ['Which films are showing <city> (tonight|this weekend|on Friday)?', 'What does a ticket cost?'],
      'Is the new season of the (baking|quiz|detective|cooking|talent) show out yet?',
      'How much is a ticket at the (Odeon|Rex|Lux) <city>?',
    ],
  },
  {
    name: 'news',
    requests: [
      'What are the headlines (this morning|today|right now)?',
      ['What came out of the (climate|budget|trade|peace) talks (yesterday|today)?', 'Will they go on?'],
      ['Who is ahead in the election <city>?', 'When will the result be out?'],
      'Is there anything new about the (strike|flood|fire|power cut) <city>?',
      'What were the lottery numbers (last night|on Wednesday|on Saturday)?',
    ],
  },
]
