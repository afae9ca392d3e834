/**
 * Streets as they are called where a city lies. Every list has as many, so that a street's number means as much in one city as in another, and begins with
 * the street of the station. Without accents: people type addresses by hand, and keys are made of them.
 */

const names = (text: string): readonly string[] => text.trim().split(/\s*,\s*/)

const ENGLISH = names(`
  Station Road, Abbey Road, Acacia Avenue, Baker Street, Bridge Street, Canal Street, Castle Street, Cherry Lane, Church Road, Clock Square, Dock Road,
  Elm Street, Ferry Lane, Fountain Square, Garden Avenue, Granary Street, Green Lane, Harbour Street, High Street, Hill Road, King Street, Lake Avenue,
  Library Square, Linden Avenue, Maple Street, Market Square, Mill Lane, Museum Street, North Street, Oak Avenue, Old Town Road, Orchard Lane,
  Park Avenue, Pine Street, Queen Street, Rose Lane, School Road, Temple Street, Tower Street, Union Square, Victoria Road, Vine Street, Willow Lane,
  Windmill Road`)

const DUTCH = names(`
  Stationsplein, Bakkerstraat, Beukenlaan, Bloemstraat, Brugstraat, Burgwal, Dorpsstraat, Dwarsstraat, Eikenlaan, Esdoornstraat, Fonteinstraat,
  Gasthuisplein, Gracht Noord, Groenmarkt, Havenstraat, Hoogstraat, Houtmarkt, Kalverweg, Kanaalstraat, Kasteelstraat, Kerkstraat, Kersenlaan,
  Koningsplein, Korenmarkt, Lange Gracht, Lindenlaan, Marktstraat, Molenstraat, Museumlaan, Nieuwstraat, Noordkade, Oude Kade, Parkweg, Prinsenstraat,
  Rozenstraat, Schoolstraat, Singelweg, Tuinstraat, Veerstraat, Vismarkt, Watertoren, Weverstraat, Wilgenlaan, Zeedijk`)

const FRENCH = names(`
  Rue de la Gare, Avenue des Tilleuls, Avenue du Parc, Avenue du Lac, Boulevard du Port, Boulevard Saint-Michel, Boulevard Victor Hugo, Chemin des Vignes,
  Cours Lafayette, Impasse du Moulin, Passage du Marche, Place de la Fontaine, Place de la Mairie, Place du Marche, Place Royale, Quai du Canal,
  Quai Saint-Antoine, Rue Basse, Rue de la Poste, Rue de la Tour, Rue des Acacias, Rue des Cerisiers, Rue des Ecoles, Rue des Lilas, Rue des Roses,
  Rue des Tanneurs, Rue du Bac, Rue du Chateau, Rue du Faubourg, Rue du Four, Rue du Jardin, Rue du Moulin, Rue du Musee, Rue du Nord, Rue du Pont,
  Rue du Temple, Rue du Verger, Rue Haute, Rue Neuve, Rue Pasteur, Rue Saint-Jacques, Rue Saint-Pierre, Rue Verte, Rue Voltaire`)

const GERMAN = names(`
  Bahnhofstrasse, Ahornweg, Am Stadtpark, Apfelweg, Backergasse, Bergstrasse, Birkenallee, Blumenstrasse, Brunnenplatz, Burgstrasse, Domplatz,
  Eichenweg, Feldstrasse, Fischmarkt, Gartenstrasse, Goethestrasse, Hafenstrasse, Hauptstrasse, Heuweg, Hofgasse, Kanalstrasse, Kastanienallee,
  Kirchgasse, Kirschallee, Lange Gasse, Lindenstrasse, Marktplatz, Mozartstrasse, Muhlweg, Museumstrasse, Neugasse, Nordstrasse, Parkstrasse,
  Postgasse, Rathausplatz, Ringstrasse, Rosenweg, Schillerstrasse, Schlossallee, Schulstrasse, Seestrasse, Turmgasse, Uferweg, Weinbergweg`)

const SPANISH = names(`
  Calle de la Estacion, Avenida del Mar, Avenida del Parque, Avenida de los Pinos, Calle Alta, Calle Cervantes, Calle de Goya, Calle de la Cruz,
  Calle de la Fuente, Calle de la Huerta, Calle de la Luna, Calle de la Paz, Calle de las Flores, Calle del Agua, Calle del Arco, Calle del Carmen,
  Calle del Castillo, Calle del Cerezo, Calle del Horno, Calle del Mercado, Calle del Molino, Calle del Museo, Calle del Norte, Calle del Olivo,
  Calle del Prado, Calle del Puente, Calle del Puerto, Calle del Rosal, Calle del Sol, Calle de los Reyes, Calle de San Juan, Calle de Santa Ana,
  Calle Mayor, Calle Nueva, Calle Real, Camino Viejo, Paseo de la Ribera, Paseo del Canal, Plaza de la Villa, Plaza del Reloj, Plaza de San Miguel,
  Plaza Mayor, Ronda de Levante, Travesia del Pozo`)

const ITALIAN = names(`
  Via della Stazione, Corso Garibaldi, Corso Italia, Corso Venezia, Largo Augusto, Lungolago Nord, Piazza Castello, Piazza del Duomo,
  Piazza del Mercato, Piazza della Fontana, Piazza San Marco, Via Alta, Via Cavour, Via Dante, Via dei Ciliegi, Via dei Fiori, Via dei Giardini, Via dei Mille,
  Via dei Platani, Via dei Tigli, Via del Canale, Via del Forno, Via del Lago, Via della Torre, Via delle Rose, Via delle Scuole, Via delle Vigne,
  Via del Mulino, Via del Museo, Via del Parco, Via del Ponte, Via del Porto, Via Galilei, Via Leopardi, Via Manzoni, Via Mazzini, Via Nuova, Via Roma,
  Via San Paolo, Via Santa Lucia, Via Verdi, Viale dei Pini, Viale Europa, Vicolo Stretto`)

const PORTUGUESE = names(`
  Rua da Estacao, Avenida da Liberdade, Avenida do Mar, Avenida do Parque, Beco do Carmo, Calcada da Gloria, Largo da Igreja, Largo do Chafariz,
  Praca da Alegria, Praca do Comercio, Praca do Mercado, Rua Alta, Rua da Boavista, Rua da Escola, Rua da Fonte, Rua da Horta, Rua da Oliveira, Rua da Paz,
  Rua da Ponte, Rua da Prata, Rua das Cerejeiras, Rua das Flores, Rua das Rosas, Rua da Torre, Rua das Vinhas, Rua de Santa Catarina, Rua de Santo Antonio,
  Rua de Sao Bento, Rua Direita, Rua do Arsenal, Rua do Canal, Rua do Carvalho, Rua do Castelo, Rua do Cais, Rua do Forno, Rua do Jardim, Rua do Moinho,
  Rua do Museu, Rua do Norte, Rua do Ouro, Rua dos Pinheiros, Rua do Sol, Rua Nova, Travessa do Poco`)

const DANISH = names(`
  Jernbanegade, Adelgade, Algade, Birkevej, Bredgade, Brogade, Bygaden, Dronningens Gade, Elmevej, Enghavevej, Fiskergade, Havnegade, Havevej, Hovedgaden,
  Kanalgade, Kastanievej, Kirkegade, Kirsebaervej, Kongensgade, Klostergade, Landevejen, Lindevej, Lille Torv, Museumsgade, Mollegade, Norregade,
  Nygade, Overgade, Parkvej, Pilevej, Radhuspladsen, Ribesvej, Rosenvej, Skolegade, Skovvej, Slotsgade, Strandvejen, Sondergade, Teglvej, Torvet,
  Tarnvej, Vestergade, Vindmollevej, Ostergade`)

const NORWEGIAN = names(`
  Jernbanegata, Akergata, Bakkegata, Bjerkeveien, Brugata, Bryggeveien, Dronningens gate, Eikeveien, Elvegata, Fjordveien, Furuveien, Granveien, Hageveien,
  Havnegata, Kanalveien, Kirkegata, Kirsebaerveien, Kongens gate, Lindeveien, Markveien, Mollergata, Museumsgata, Nedre gate, Nordre gate, Nygata,
  Osloveien, Parkveien, Pilestredet, Prinsens gate, Radhusgata, Roseveien, Seterveien, Skippergata, Skogveien, Skoleveien, Slottsgata, Storgata, Strandgata,
  Torggata, Tollbugata, Tarnveien, Vestveien, Vinkelgata, Ovre gate`)

const SWEDISH = names(`
  Stationsgatan, Almgatan, Apotekargatan, Bagargatan, Bjorkgatan, Brogatan, Drottninggatan, Ekvagen, Fabriksgatan, Fiskargatan, Fontangatan, Grona Gatan,
  Hamngatan, Hantverkargatan, Kanalgatan, Kastanjevagen, Klockgatan, Kungsgatan, Kvarngatan, Kyrkogatan, Korsbarsvagen, Langgatan, Lindgatan, Malmgatan,
  Museigatan, Nygatan, Norra Gatan, Parkgatan, Pilgatan, Prastgatan, Radhusgatan, Rosengatan, Sjogatan, Skeppargatan, Skolgatan, Skogsvagen, Slottsgatan,
  Smedjegatan, Stora Torget, Storgatan, Strandvagen, Torngatan, Tradgardsgatan, Vastra Gatan`)

const FINNISH = names(`
  Asemakatu, Aleksanterinkatu, Hallituskatu, Harjukatu, Hameenkatu, Itakatu, Jokikatu, Kaivokatu, Kalevankatu, Kanavakatu, Kauppakatu, Keskuskatu,
  Kirkkokatu, Kirsikkatie, Koivukatu, Koulukatu, Kuninkaankatu, Kuusitie, Lansikatu, Lehtikatu, Linnankatu, Mannerkatu, Museokatu, Myllykatu, Niittykatu,
  Omenatie, Pajukatu, Pihlajatie, Pohjoiskatu, Puistokatu, Puutarhakatu, Rantakatu, Rauhankatu, Ruusukatu, Satamakatu, Siltakatu, Tammitie, Tehtaankatu,
  Torikatu, Tornikatu, Uusikatu, Vaahteratie, Vanhakatu, Vuorikatu`)

const CZECH = names(`
  Nadrazni, Akatova, Brezova, Dlouha, Dubova, Hlavni, Horni, Hradebni, Jablonova, Jezerni, Jirska, Kamenna, Kanalova, Kastanova, Kostelni, Kralovska,
  Kratka, Kvetna, Lesni, Lipova, Luzna, Malirska, Mlynska, Mostecka, Muzejni, Na Kopci, Namesti Miru, Nova, Ovocna, Parkova, Pekarska, Pristavni,
  Ruzova, Sadova, Severni, Skolni, Stara, Tovarni, Tresnova, Trzni, U Fontany, Vezni, Vinohradska, Zamecka`)

const POLISH = names(`
  Dworcowa, Akacjowa, Aleja Lipowa, Brzozowa, Cicha, Debowa, Dluga, Fabryczna, Glowna, Gorna, Jeziorna, Kanalowa, Kasztanowa, Klonowa, Kolejowa, Kosciuszki,
  Koscielna, Krolewska, Krotka, Kwiatowa, Lesna, Mickiewicza, Mlynska, Mostowa, Muzealna, Nowa, Nowy Rynek, Ogrodowa, Parkowa, Piekarska, Plac Wolnosci,
  Polna, Portowa, Polnocna, Rozana, Sadowa, Slowackiego, Sosnowa, Stary Rynek, Szkolna, Topolowa, Wiatraczna, Wisniowa, Zamkowa`)

const HUNGARIAN = names(`
  Vasut utca, Akac utca, Alma utca, Arany Janos utca, Bartok utca, Bem ter, Cseresznye utca, Diofa utca, Duna utca, Erdo utca, Fo utca, Fenyo utca,
  Gyar utca, Harsfa utca, Hid utca, Hosok tere, Iskola utca, Kalvaria ter, Kastely utca, Kert utca, Kikoto utca, Kiraly utca, Kossuth ter, Kut utca,
  Liget utca, Liszt ter, Malom utca, Muzeum utca, Nagy utca, Nyar utca, Park utca, Petofi utca, Piac ter, Posta utca, Rakoczi utca, Rozsa utca, Szechenyi ter,
  Szolo utca, Templom utca, Tolgy utca, Torony utca, Uj utca, Var utca, Viola utca`)

const GREEK = names(`
  Odos Stathmou, Agias Annas, Agiou Georgiou, Agoras, Akakias, Alexandrou, Anapafseos, Athinas, Botsari, Dafnis, Dimokratias, Eleftherias, Elaion, Ermou,
  Filellinon, Ippokratous, Irinis, Kanari, Kapodistriou, Kerasias, Kolokotroni, Korai, Lemonias, Limanos, Mavromichali, Mitropoleos, Mouseiou, Nikis, Odysseos,
  Omirou, Panepistimiou, Parthenonos, Pindou, Platia Kotzia, Platia Vathis, Platonos, Riga Fereou, Rodon, Scholiou, Sofokleous, Solonos, Stadiou, Thiseos,
  Vasilissis Olgas`)

const BY_CITY: Readonly<Record<string, readonly string[]>> = {
  Amsterdam: DUTCH,
  Athens: GREEK,
  Barcelona: SPANISH,
  Berlin: GERMAN,
  Brussels: FRENCH,
  Budapest: HUNGARIAN,
  Copenhagen: DANISH,
  Hamburg: GERMAN,
  Helsinki: FINNISH,
  Lisbon: PORTUGUESE,
  Lyon: FRENCH,
  Madrid: SPANISH,
  Milan: ITALIAN,
  Montreal: FRENCH,
  Munich: GERMAN,
  Oslo: NORWEGIAN,
  Paris: FRENCH,
  Porto: PORTUGUESE,
  Prague: CZECH,
  Rome: ITALIAN,
  Stockholm: SWEDISH,
  Vienna: GERMAN,
  Warsaw: POLISH,
  Zurich: GERMAN,
}

/** The streets of a city of the gazetteer, that of the station first; English ones where English is spoken. */
export const streetsOf = (cityName: string): readonly string[] => BY_CITY[cityName] ?? ENGLISH
